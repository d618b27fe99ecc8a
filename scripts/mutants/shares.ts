import type { Mutant } from './mutant.ts'

const lines = 'packages/ports/queue/src/namespace-lines.ts'
const workQueue = 'packages/shells/reconcile/src/work-queue.ts'
const holder = 'apps/controller/src/ports/workload-holder.ts'
const wake = 'apps/controller/src/wake.ts'
const term = 'apps/controller/src/term.ts'
const sharedQuota = 'packages/adapters/connections/src/shared-quota.ts'
const clientGroup = 'apps/api/src/limits/client-group.ts'
const guard = 'apps/api/src/http/guard.ts'
const executorPass = 'packages/shells/partition-executor/src/executor-pass.ts'
const recordedActions = 'packages/core/actions/src/recorded-actions.ts'

const linesTests = 'packages/ports/queue/test/namespace-lines.test.ts'
const inProcessTests = 'packages/ports/queue/test/in-process-queue.test.ts'
const workQueueTests = 'packages/shells/reconcile/test/work-queue.test.ts'
const workQueueProperties = 'packages/shells/reconcile/test/work-queue.property.test.ts'
const runnerTests = 'packages/shells/reconcile/test/runner.test.ts'
const recorderTests = 'packages/shells/reconcile/test/event-recorder.test.ts'
const wakeTests = 'apps/controller/test/wake-workload.test.ts'
const manyRollouts = 'test/scenarios/many-rollouts.test.ts'
const slowReceivers = 'test/scenarios/slow-receivers.test.ts'
const callLimiterTests = 'apps/controller/test/call-limiter.test.ts'
const quotaTests = 'packages/adapters/connections/test/shared-quota.test.ts'
const groupTests = 'apps/api/test/client-groups.test.ts'
const executorTests = 'packages/shells/partition-executor/test/executor-pass.test.ts'
const recordedTests = 'packages/core/actions/test/recorded-actions.test.ts'

/** Faults by which one namespace, or one client, takes what all share. */
export const mutantsOfShares: readonly Mutant[] = [
  {
    rule: 'Shares',
    fault: 'a namespace with many keys has all of them taken before those of others',
    file: lines,
    find: 'lines.delete(namespace)\n      if (line.size > 0) lines.set(namespace, line)',
    replace: 'if (line.size === 0) lines.delete(namespace)',
    tests: [linesTests, workQueueTests, inProcessTests],
  },
  {
    rule: 'Shares',
    fault: 'a namespace has any number of keys taken at a time',
    file: lines,
    find: 'if (takenOf(namespace) < atOnce) return',
    replace: 'return',
    tests: [linesTests, workQueueTests],
  },
  {
    rule: 'Shares',
    fault: 'the next key of a namespace with all its workers busy waits for another add',
    file: workQueue,
    find: '  else serve(state)',
    replace: '',
    tests: [workQueueTests],
  },
  {
    rule: 'Shares',
    fault: 'a namespace whose keys are done counts as one whose keys are taken',
    file: workQueue,
    find: 'if (state.processing.delete(key)) state.ready.leave(key)',
    replace: 'state.processing.delete(key)',
    tests: [workQueueTests, workQueueProperties],
  },
  {
    rule: 'Shares',
    fault: 'a worker with a long queue lets the process do nothing else',
    file: 'packages/shells/reconcile/src/runner.ts',
    find: 'await sleep(clock, 0)',
    replace: 'continue',
    tests: [runnerTests],
  },
  {
    rule: 'Shares',
    fault: 'a full queue of events loses those of other namespaces',
    file: 'packages/shells/reconcile/src/event-recorder.ts',
    find: 'if (!state.waiting.makeRoom(key)) return',
    replace: 'return',
    tests: [recorderTests],
  },
  {
    rule: 'Shares',
    fault: 'receivers of one namespace take all senders',
    file: term,
    find: 'workers: 32, atOnceOfNamespace: 8',
    replace: 'workers: 32, atOnceOfNamespace: 32',
    tests: [slowReceivers],
  },
  {
    rule: 'Shares',
    fault: 'touches of one release come before those of all namespaces',
    file: 'apps/controller/src/ports/call-limiter.ts',
    find: 'semaphore.run(never, namespace,',
    replace: 'semaphore.run(never, namespace.slice(0, 0),',
    tests: [callLimiterTests],
  },
  {
    rule: 'Shares',
    fault: 'every Rollout that names a DaemonSet has a pass for each change of a node',
    file: wake,
    find: 'for (const name of actingOn(cluster, daemonSet)) wakeIfThere(cluster, { namespace: daemonSet.namespace, name }, wake)',
    replace: 'if (actingOn(cluster, daemonSet).size > 0) wakeNaming(cluster, daemonSet, wake)',
    tests: [wakeTests, manyRollouts],
  },
  {
    rule: 'Shares',
    fault: 'no other Rollout follows one that is disabled or deleted',
    file: wake,
    find: 'if (isHolderChanged(cluster, workload, [previous, current], boundTo)) wakeNaming',
    replace: 'if (isHolderChanged(cluster, workload, [undefined, current], boundTo)) wakeNaming',
    tests: [wakeTests, manyRollouts],
  },
  {
    rule: 'Shares',
    fault: 'a Rollout that holds a DaemonSet no longer acts on it because an older one was created',
    file: holder,
    find: '&& isCandidate(bound)) return bound',
    replace: '&& isCandidate(bound) && boundTo === undefined) return bound',
    tests: [wakeTests],
  },
  {
    rule: 'Shares',
    fault: 'a release without control but with permits sees no change of a node',
    file: holder,
    find: 'metadata.uid === uid || (status?.flight?.permits.length ?? 0) > 0)',
    replace: 'metadata.uid === uid && status !== null)',
    tests: [wakeTests],
  },
  {
    rule: 'Shares',
    fault: 'no release is in control, and none sees a change of a node',
    file: holder,
    find: 'if (!all.some(({ metadata }) => metadata.uid === uid)) return all',
    replace: '',
    tests: [wakeTests],
  },
  {
    rule: 'Shares',
    fault: 'a few clients take everything, each within its limit',
    file: sharedQuota,
    find: '(had === 0 ? total : shared)',
    replace: '(had + shared === 0 ? shared : total)',
    tests: [quotaTests, groupTests],
  },
  {
    rule: 'Shares',
    fault: 'each service account of a namespace has the limits of a client',
    file: clientGroup,
    find: 'if (namespace === null) return',
    replace: "if (namespace !== '') return",
    tests: [groupTests],
  },
  {
    rule: 'Shares',
    fault: 'a token that was just reviewed counts for no client',
    file: guard,
    find: 'await limitSender(request, reply, clientGroupOf(caller.username))',
    replace: 'await limitSender(request, reply, { ...clientGroupOf(caller.username), key: token })',
    tests: [groupTests],
  },
  {
    rule: 'Shares',
    fault: 'a client takes a stream that it may not see while its rights are reviewed',
    file: 'apps/api/src/routes/stream.ts',
    find: 'await checkScope(parts.reviews, caller, scopeOf(request))',
    replace: '',
    tests: [groupTests],
  },
  {
    rule: 'Shares',
    fault: 'permits for thousands of nodes cost a request each',
    file: executorPass,
    find: 'const single = questions.nodes.length > READS_AT_ONCE ? [] : questions.nodes',
    replace: 'const single = questions.nodes',
    tests: [executorTests],
  },
  {
    rule: 'F6',
    fault: 'a node that a list does show counts as gone',
    file: executorPass,
    find: 'hasLeft(found.get(node) ?? null, reading.placement)',
    replace: 'hasLeft(null, reading.placement) && found.size >= 0 && node.length > 0',
    tests: [executorTests],
  },
  {
    rule: 'Shares',
    fault: 'labels of a megabyte stay in memory after their pod',
    file: 'packages/clients/cluster/src/cache/shared-texts.ts',
    find: 'if (text.length > LONGEST_LABELS) return labels',
    replace: '',
    tests: ['packages/clients/cluster/test/stamped-fleet.test.ts'],
  },
  {
    rule: 'Shares',
    fault: 'rules of nodes of several megabytes stay in memory after their release',
    file: 'packages/core/fence/src/nodes/node-scope.ts',
    find: 'if (scopes.size >= SCOPES_KEPT || charactersKept + text.length > CHARACTERS_KEPT) {',
    replace: 'if (scopes.size >= SCOPES_KEPT) {',
    tests: ['packages/core/fence/test/pass/kept-scopes.test.ts'],
  },
  {
    rule: 'Shares',
    fault: 'changes by other programs are recorded in the order in which they came, whatever their namespace',
    file: 'apps/controller/src/change-observer/start-change-observer.ts',
    find: 'waiting.add(rollout, null)\n    timer',
    replace: "waiting.add(rollout.replace('demo/', 'tenant/'), null)\n    timer",
    tests: ['test/scenarios/observed-changes.test.ts'],
  },
  {
    rule: 'Shares',
    fault: 'any number of recorded actions of an object is kept in memory',
    file: recordedActions,
    find: 'parsedList(text, recordedActionSchema, RECORDED_ACTIONS_MAX)',
    replace: 'parsedList(text, recordedActionSchema, RECORDED_ACTIONS_MAX * 1_000)',
    tests: [recordedTests],
  },
]
