import type { Mutant } from './mutant.ts'

const cordonStep = 'packages/core/drain/src/cordon-step.ts'
const consumers = 'packages/core/drain/src/consumers.ts'
const cordonMark = 'packages/core/drain/src/cordon-mark.ts'
const cordons = 'packages/clients/cluster/src/cordons.ts'
const nodeWrites = 'packages/clients/cluster/src/node-writes.ts'
const drainNode = 'packages/clients/cluster/src/drain-node.ts'
const evictPod = 'packages/clients/cluster/src/evict-pod.ts'
const evictPodTests = 'packages/clients/cluster/test/evict-pod.test.ts'
const drainMemory = 'packages/clients/cluster/src/drain-memory.ts'
const readConsumers = 'packages/clients/cluster/src/read-consumers.ts'
const drainCheck = 'packages/clients/node-checks/src/drain-check.ts'

const cordonTests = 'packages/core/drain/test/cordon.test.ts'
const consumerTests = 'packages/core/drain/test/consumers.test.ts'
const drainNodeTests = 'packages/clients/cluster/test/drain-node.test.ts'
const drainStories = 'test/scenarios/drain.test.ts'
const changeStories = 'test/scenarios/drain-changes.test.ts'
const endStories = 'test/scenarios/drain-ends.test.ts'

/** Faults in the drain of nodes. */
export const mutantsOfDrain: readonly Mutant[] = [
  {
    rule: 'Drain',
    fault: 'a permit whose pod the watches no longer show is taken as in force',
    file: drainCheck,
    find: "if (podName === undefined) return { kind: 'pending', againInMs: CHANGED_AGAIN_MS }",
    replace: '',
    tests: ['packages/clients/node-checks/test/drain-check.test.ts'],
  },
  {
    rule: 'Drain',
    fault: 'a node is drained for a permit that another executor has used already',
    file: 'packages/clients/cluster/src/cordons.ts',
    find: 'return isListed && (await isUnused(client, drained, signal))',
    replace: 'return isListed',
    tests: ['packages/clients/node-checks/test/drain-check.test.ts'],
  },
  {
    rule: 'G6',
    fault: 'a node that is updated although it is not drained is reported at each attempt',
    file: drainNode,
    find: 'isNews: !progress.isReported',
    replace: 'isNews: progress.spentMs > 0',
    tests: ['packages/clients/cluster/test/drain-node.test.ts'],
  },
  {
    rule: 'G6',
    fault: 'a webhook that denies an eviction counts as no answer',
    file: evictPod,
    find: 'isForbidden(error) && !(await mayEvict(namespace, signal))',
    replace: 'isForbidden(error)',
    tests: [evictPodTests],
  },
  {
    rule: 'G6',
    fault: 'a missing right to evict counts as a refusal, and the time limit ends it',
    file: evictPod,
    find: 'isUnauthorized(error) || (isForbidden(error) && !(await mayEvict(namespace, signal)))',
    replace: 'isUnauthorized(error)',
    tests: [evictPodTests],
  },
  {
    rule: 'Drain',
    fault: 'the cordon of a user is taken for an own one',
    file: cordonStep,
    find: 'toMark(drained, !isCordoned)',
    replace: 'toMark(drained, true)',
    tests: [cordonTests],
  },
  {
    rule: 'Drain',
    fault: 'a node that a user made schedulable is cordoned again',
    file: cordonStep,
    find: 'if (mark.cordoned && !isOwnCordon(node, mark)) return',
    replace:
      "if (!isCordoned) return { kind: 'mark', patch: markPatch(node, toMark(drained, true)) }\n  if (mark.cordoned && !isOwnCordon(node, mark)) return",
    tests: [cordonTests],
  },
  {
    rule: 'Drain',
    fault: 'a cordon that a user made in between is undone',
    file: cordonStep,
    find: 'return managers.every((manager) => manager === fieldManagers.executor)',
    replace: 'return managers.length >= 0',
    tests: [cordonTests],
  },
  {
    rule: 'Drain',
    fault: 'a new permit keeps the mark of the earlier one, so that a late undo ends its cordon',
    file: cordonMark,
    find: ' && a.podResourceVersion === b.podResourceVersion',
    replace: '',
    tests: [cordonTests],
  },
  {
    rule: 'Drain',
    fault: 'two releases drain one node at the same time',
    file: cordonStep,
    find: "return { kind: 'taken', by: mark }",
    replace: "return { kind: 'done' }",
    tests: [cordonTests],
  },
  {
    rule: 'Drain',
    fault: 'pods of a DaemonSet are evicted, and come back at once',
    file: consumers,
    find: '!isMirror && !isOfDaemonSet &&',
    replace: '!isMirror &&',
    tests: [consumerTests],
  },
  {
    rule: 'Drain',
    fault: 'static pods are evicted',
    file: consumers,
    find: '!isMirror && !isOfDaemonSet &&',
    replace: '!isOfDaemonSet &&',
    tests: [consumerTests],
  },
  {
    rule: 'Drain',
    fault: 'finished pods keep a node from being drained',
    file: consumers,
    find: " && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed'",
    replace: '',
    tests: [consumerTests],
  },
  {
    rule: 'Drain',
    fault: 'a selector that Kubernetes rejects matches every pod',
    file: consumers,
    find: '?.(pod.metadata.labels ?? {}) === true',
    replace: '?.(pod.metadata.labels ?? {}) !== false',
    tests: [consumerTests],
  },
  {
    rule: 'Drain',
    fault: 'a process that was frozen cordons a node by an old reading',
    file: nodeWrites,
    find: "if (isConflict(error)) return 'changed'",
    replace: 'if (isConflict(error)) return null',
    tests: [drainNodeTests],
  },
  {
    rule: 'Drain',
    fault: 'a node is cordoned for a permit that has ended',
    file: cordons,
    find: "if (!(await isPermitted(client, drained, signal))) return { kind: 'over' }",
    replace: '',
    tests: [drainNodeTests],
  },
  {
    rule: 'Drain',
    fault: 'a node is cordoned although its record is being stopped',
    file: cordons,
    find: "state === 'open' && permits.some(",
    replace: 'state !== undefined && permits.some(',
    tests: [drainNodeTests],
  },
  {
    rule: 'Drain',
    fault: 'a cordon is undone although the record still has its permit',
    file: cordons,
    find: 'return settled.some(isMarked) || !(release.status?.flight?.permits ?? []).some(isMarked)',
    replace: 'return settled.some(isMarked) || release !== null',
    tests: [drainNodeTests],
  },
  {
    rule: 'Drain',
    fault: 'the record of another BatchRelease of the same name keeps a cordon',
    file: cordons,
    find: 'if (release?.metadata.uid !== mark.uid) return true',
    replace: 'if (release === null) return true',
    tests: [drainNodeTests],
  },
  {
    rule: 'Drain',
    fault: 'no time limit ends a drain',
    file: drainNode,
    find: 'spentMs >= durationMs(timeout)',
    replace: 'spentMs < 0 && timeout === ""',
    tests: [drainNodeTests],
  },
  {
    rule: 'Drain',
    fault: 'a drain that was given up starts again at once',
    file: drainNode,
    find: 'restMs: durationMs(timeout), end: given',
    replace: 'restMs: 0, end: given',
    tests: [drainNodeTests],
  },
  {
    rule: 'Words',
    fault: 'a drain that another release keeps is reported as one that pods keep',
    file: drainNode,
    find: "end.isTaken === true ? 'DrainTaken' : 'DrainBlocked'",
    replace: "end.isTaken === null ? 'DrainTaken' : 'DrainBlocked'",
    tests: [drainNodeTests],
  },
  {
    rule: 'Drain',
    fault: 'a pod that changes again and again is drained for ever',
    file: drainMemory,
    find: 'spentMs: before.spentMs + countedMs',
    replace: 'spentMs: 0',
    tests: [drainNodeTests],
  },
  {
    rule: 'Drain',
    fault: 'consumers that may not be evicted keep others from it',
    file: drainNode,
    find: '(refusedAt.get(a.uid) ?? -1) - (refusedAt.get(b.uid) ?? -1)',
    replace: '(refusedAt.get(a.uid) ?? 0) * 0 - (refusedAt.get(b.uid) ?? 0) * 0',
    tests: [drainNodeTests],
  },
  {
    rule: 'Drain',
    fault: 'helper pods of prePull are evicted, and created again',
    file: consumers,
    find: ' && !isHelperPod(pod)',
    replace: '',
    tests: [consumerTests],
  },
  {
    rule: 'Drain',
    fault: 'a node counts as drained by a list that may be older than its cordon',
    file: readConsumers,
    find: 'return seen.length > 0 ? seen : readOnce(asked, false, signal)',
    replace: 'return seen',
    tests: [drainNodeTests],
  },
  {
    rule: 'Drain',
    fault: 'policies of every namespace may drain nodes',
    file: drainCheck,
    find: '!isListedNamespace(trusted, namespace)',
    replace: 'trusted.length < 0 && !isListedNamespace(trusted, namespace)',
    tests: [drainStories],
  },
  {
    rule: 'Drain',
    fault: 'a node whose DaemonSet is gone stays cordoned',
    file: drainCheck,
    find: 'if (!isActive || permits.length === 0) await',
    replace: 'if (permits.length === 0) await',
    tests: [changeStories],
  },
  {
    rule: 'Drain',
    fault: 'a mark of another namespace counts as that of the release by its uid',
    file: cordonMark,
    find: ' && mark.namespace === release.namespace',
    replace: '',
    tests: [cordonTests],
  },
  {
    rule: 'Drain',
    fault: 'a cordon that a user applies beside an executor is undone',
    file: cordonStep,
    find: 'managers.every((manager)',
    replace: 'managers.length === 0 || managers.some((manager)',
    tests: [endStories],
  },
  {
    rule: 'Drain',
    fault: 'a node on which the new pod has failed stays cordoned',
    file: 'packages/clients/node-checks/src/drain-check.ts',
    find: '(isOver || failed.has(node)) &&',
    replace: 'isOver && failed.size < 0 &&',
    tests: [endStories],
  },
  {
    rule: 'Drain',
    fault: 'a node whose drain was given up rests although the policy has changed',
    file: drainMemory,
    find: ' && isSameJson(rest.rules, rules)',
    replace: '',
    tests: ['packages/clients/cluster/test/drain-node.test.ts'],
  },
  {
    rule: 'G9',
    fault: 'consumers are evicted although the release was stopped since the node was marked',
    file: drainNode,
    find: 'if (!isTimeOver && !(await isPermitted(client, job.drained, signal)))',
    replace: 'if (isTimeOver && !(await isPermitted(client, job.drained, signal)))',
    tests: [endStories],
  },
  {
    rule: 'Drain',
    fault: 'a policy that may not drain nodes counts as usable',
    file: 'apps/controller/src/ports/examine-policy.ts',
    find: 'isIn(drainNamespaces) ?',
    replace: 'isIn(drainNamespaces) || spec !== null ?',
    tests: ['apps/controller/test/examine-policy.test.ts'],
  },
]
