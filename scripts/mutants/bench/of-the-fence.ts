import type { BluntMutant } from './blunt-mutant.ts'

const exemptNodes = 'packages/core/fence/src/nodes/exempt-nodes.ts'
const budget = 'packages/core/fence/src/pass/budget.ts'
const fence = 'packages/core/fence/src/pass/fence-state.ts'
const planPass = 'packages/core/fence/src/pass/plan-pass.ts'
const nodeScope = 'packages/core/fence/src/nodes/node-scope.ts'
const tally = 'packages/core/fence/src/pass/node-tally.ts'
const wantedAllowance = 'packages/core/planner/src/release/progress/wanted-allowance.ts'
const batchProgress = 'packages/core/planner/src/release/progress/batch-progress.ts'
const advanceStep = 'packages/core/planner/src/rollout/release/advance-step.ts'
const firstRun = 'packages/core/planner/src/rollout/states/first-run.ts'
const startState = 'packages/core/planner/src/rollout/states/start-state.ts'
const releasePolicy = 'packages/core/planner/src/rollout/view/release-policy.ts'
const replacedPlan = 'packages/core/planner/src/rollout/release/replaced-plan.ts'
const answerAction = 'packages/core/planner/src/rollout/actions/answer-action.ts'
const fleetPod = 'packages/core/fleet/src/fleet-pod.ts'
const permitState = 'packages/core/fence/src/record/permit-state.ts'
const flightRecord = 'packages/core/fence/src/record/flight-record.ts'
const touch = 'packages/core/fence/src/record/touch.ts'
const cordonStep = 'packages/core/drain/src/cordon-step.ts'
const drainCheck = 'packages/clients/node-checks/src/drain-check.ts'
const executorPort = 'apps/executor/src/executor-port.ts'
const writeRecord = 'packages/clients/cluster/src/write-record.ts'

/** Faults in the limits and targets of deletions: G1 to G4, and G8. */
export const mutantsOfTheFence: readonly BluntMutant[] = [
  {
    guarantee: 'G1',
    fault: 'a pod is deleted although its node has no room for the new one',
    edits: [{ file: nodeScope, find: "checksRoom: room === 'Check',", replace: "checksRoom: room === 'Never'," }],
    worlds: 'crowded',
  },
  {
    guarantee: 'G4',
    fault: 'a pod is deleted while other pods use it, although the policy drains nodes',
    edits: [
      {
        file: drainCheck,
        find: "if (purpose === 'deletion') return drain(target, rules, node, signal)",
        replace: "if (purpose === 'deletion') return { kind: 'ready', for: 'deletion' }",
      },
    ],
    worlds: 'drained',
  },
  {
    guarantee: 'G7',
    fault: 'drained nodes stay cordoned',
    edits: [
      { file: drainCheck, find: 'await uncordonNode(client, node, settled, signal)', replace: 'void settled' },
      { file: drainCheck, find: 'await uncordonNode(client, one.node, permits, signal)', replace: 'void permits' },
    ],
    worlds: 'drained',
  },
  {
    guarantee: 'G11',
    fault: 'the cordon of a user is undone after a drain',
    edits: [
      { file: cordonStep, find: 'toMark(drained, !isCordoned && !isYielded)', replace: 'toMark(drained, true)' },
      {
        file: cordonStep,
        find: 'return managers.every((manager) => manager === fieldManagers.executor)',
        replace: 'return managers.length >= 0',
      },
    ],
    worlds: 'drained',
  },
  {
    guarantee: 'G1',
    fault: 'nodes that are down for other reasons cost no budget',
    edits: [{ file: budget, find: 'return [...unavailable, ...gone]', replace: 'return [...unavailable.slice(0, 0), ...gone]' }],
    worlds: 'down',
  },
  {
    guarantee: 'G1',
    fault: 'every node may be down, whatever maxUnavailable says',
    edits: [
      {
        file: wantedAllowance,
        find: 'return Math.max(1, Math.min(scaleIntOrPercent(maxUnavailable, desired) ?? 1, MAX_LIMIT))',
        replace: 'return Math.max(1, Math.min(maxUnavailable === undefined ? 1 : desired, MAX_LIMIT))',
      },
    ],
    worlds: 'calm',
  },
  {
    guarantee: 'G1',
    fault: 'permits are used regardless of the limit',
    edits: [
      {
        file: budget,
        find: 'return isWithinLimit && (pod?.ready === false || sizeWithout(group.down, node) < group.limit)',
        replace: 'return isWithinLimit || pod !== undefined',
      },
    ],
    worlds: 'calm',
  },
  {
    guarantee: 'G1',
    fault: 'minReadySeconds has no effect',
    edits: [{ file: fleetPod, find: 'if (minReadyMs === 0) return true', replace: 'if (minReadyMs >= 0) return true' }],
    worlds: 'slow',
  },
  {
    guarantee: 'G1',
    fault: 'a pod counts as available as soon as it exists',
    edits: [{ file: fleetPod, find: 'if (pod.terminating || !pod.ready) return false', replace: 'return !pod.terminating' }],
    worlds: 'calm',
  },
  {
    guarantee: 'G1',
    fault: 'dead nodes cost no budget, however many there are',
    edits: [{ file: exemptNodes, find: 'isTooMany ? [] : dead', replace: 'dead' }],
    worlds: 'down',
  },
  {
    guarantee: 'G1',
    fault: 'a dead node costs no budget, whatever version took it down',
    edits: [
      {
        file: exemptNodes,
        find: 'return standing.some((pod) => isProven(pod, revisions)) && !standing.some((pod) => isSuperseded(pod, revisions))',
        replace: 'return true',
      },
    ],
    worlds: 'killed',
  },
  {
    guarantee: 'G2',
    fault: 'a permit settles once its pod is gone',
    edits: [
      {
        file: permitState,
        find: 'node.pods.some((other) => isAvailable(other, availability.minReadyMs, availability.monotonicMs)) ? ',
        replace: 'availability.minReadyMs >= 0 ? ',
      },
    ],
    worlds: 'broken',
  },
  {
    guarantee: 'G2',
    fault: 'a broken fleet is restarted all at once',
    edits: [{ file: budget, find: 'const isWithinLimit = ', replace: 'const isWithinLimit = pod?.ready === false || ' }],
    worlds: 'broken',
  },
  {
    guarantee: 'G2',
    fault: 'a release forgets what the one before it has in flight',
    edits: [
      { file: flightRecord, find: "state: 'open', holds: [], watermark }", replace: "state: 'open', holds: [], watermark, permits: [] }" },
    ],
    worlds: 'rollovers',
  },
  {
    guarantee: 'G2',
    fault: 'a pause forgets what is in flight',
    edits: [
      {
        file: touch,
        find: "answer.kind === 'standing' ? [{ permit, version: answer.resourceVersion }] : [],",
        replace: "answer.kind === 'unclear' ? [] : [{ permit, version: answer.kind === 'standing' ? answer.resourceVersion : '0' }],",
      },
    ],
    worlds: 'broken',
  },
  {
    guarantee: 'G2',
    fault: 'each executor uses three times the limit',
    edits: [{ file: budget, find: 'return { limit, taken: new Set()', replace: 'return { limit: 3 * limit, taken: new Set()' }],
  },
  {
    guarantee: 'G3',
    fault: 'every batch has all nodes',
    edits: [{ file: batchProgress, find: 'if (batch === null) return within', replace: 'if (batch !== -1) return within' }],
    worlds: 'waiting',
  },
  {
    guarantee: 'G3',
    fault: 'no step waits for a person',
    edits: [
      {
        file: advanceStep,
        find: 'if (seconds === undefined) return paused',
        replace: 'if (seconds === undefined) return nextStep(view, state)',
      },
    ],
    worlds: 'waiting',
  },
  {
    guarantee: 'G3',
    fault: 'the next step starts even if nodes of this one are unavailable',
    edits: [
      { file: advanceStep, find: 'const ready = readyBatch === canary.currentStepIndex - 1', replace: 'const ready = readyBatch !== -7' },
      {
        file: 'packages/core/planner/src/rollout/release/soak.ts',
        find: 'const step = state.canary.currentStepIndex',
        replace: "const step = state.canary.currentStepIndex\n  if (step > 0) return { kind: 'done' }",
      },
    ],
    worlds: 'steps',
  },
  {
    guarantee: 'G3',
    fault: 'an earlier template is released to all nodes at once',
    edits: [
      {
        file: startState,
        find: 'return rollbackFrom === undefined || walksBack ? state :',
        replace:
          'const isOld = view.revisions.some((one) => hashOf(one) === revision && Date.parse(String(one.metadata.creationTimestamp)) < view.nowMs - 60_000)\n  return !isOld && (rollbackFrom === undefined || walksBack) ? state :',
      },
    ],
    worlds: 'returning',
  },
  {
    guarantee: 'G3',
    fault: 'a refused approval still starts the next step',
    edits: [
      {
        file: answerAction,
        find: 'const effect: ActionEffect = refused === null ?',
        replace:
          "const effect: ActionEffect = action.type === 'approve' ? { kind: 'jump', step: before.canary.currentStepIndex + 1 } : refused === null ?",
      },
    ],
    worlds: 'people',
  },
  {
    guarantee: 'G3',
    fault: 'a version that no node can run becomes stable',
    edits: [
      { file: batchProgress, find: ' && reachable <= 0', replace: ' && reachable < 0' },
      { file: firstRun, find: '(canary.canaryReadyReplicas ?? 0) > 0', replace: 'canary.canaryReplicas >= 0' },
    ],
    worlds: 'unreached',
  },
  ...[
    { fault: 'a version becomes stable in a dead fleet whose pods are gone', worlds: 'unserved' as const },
    { fault: 'a step whose nodes are dead and without pods opens the next one', worlds: 'chosen' as const },
  ].map(({ fault, worlds }) => ({
    guarantee: 'G3',
    fault,
    edits: [
      {
        file: batchProgress,
        find: 'node.desiredOnReturn === true &&',
        replace: 'node.desiredOnReturn === true && node.pods.length > 0 &&',
      },
    ],
    worlds,
  })),
  {
    guarantee: 'G3',
    fault: 'a step that selects nodes is for all of them',
    edits: [{ file: releasePolicy, find: 'return { ...rules, steps: steps.map(({ nodes }) => nodes ?? {}) }', replace: 'return rules' }],
    worlds: 'zoned',
  },
  {
    guarantee: 'G3',
    fault: 'a running step counts as having opened every node, where the steps that replace it select nodes',
    edits: [{ file: replacedPlan, find: 'const step = stepBySelectors(view, canary)', replace: 'const step = fittingStep(view, opened)' }],
    worlds: 'replaced',
  },
  {
    guarantee: 'G3',
    fault: 'steps that replace others continue by their number',
    edits: [
      { file: replacedPlan, find: 'const opened = openedBefore(view, canary)\n', replace: 'const opened: BatchReach | null = null\n' },
    ],
    worlds: 'lost',
  },
  {
    guarantee: 'G4',
    fault: 'pods are deleted without preconditions',
    edits: [
      {
        file: executorPort,
        find: '{ preconditions, signal }',
        replace: '{ ...(preconditions.uid.length === 0 && { preconditions }), signal }',
      },
    ],
  },
  {
    guarantee: 'G4',
    fault: 'a refused deletion is sent again for the pod as it is now',
    edits: [
      {
        file: executorPort,
        find: 'if (isConflict(error) || isNotFound(error)) return false',
        replace:
          'if (isNotFound(error)) return false\n        if (isConflict(error)) {\n          const { metadata } = await client.get(resourcePaths.pods, { namespace, name: podName }, { signal })\n          await client.delete(resourcePaths.pods, { namespace, name: podName }, { preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion }, signal })\n          return true\n        }',
      },
    ],
    worlds: 'stopped',
  },
  {
    guarantee: 'G4',
    fault: 'executors act regardless of what the DaemonSet says',
    edits: [{ file: planPass, find: "  { id: 'awaitAgreement', decide: awaitAgreement },\n", replace: '' }],
    worlds: 'left',
  },
  {
    guarantee: 'G4',
    fault: 'pods are deleted on nodes that are not desired',
    edits: [
      { file: tally, find: 'if (!node.desired) continue', replace: '' },
      { file: fence, find: 'return node?.desired === true && isInReach', replace: 'return node !== undefined && isInReach' },
      { file: fence, find: 'return node?.desired === true && hasOldPod', replace: 'return node !== undefined && hasOldPod' },
    ],
    worlds: 'tainted',
  },
  {
    guarantee: 'G4',
    fault: 'pods are deleted without a permit in the record',
    edits: [
      {
        file: planPass,
        find: 'const change = permitChange(fence, again)',
        replace:
          "const unwritten = permitChange(fence, again)?.append.flatMap((permit) => {\n    const pod = fence.view.fleet.nodes.find(({ name }) => name === permit.node)?.pods.find(({ uid }) => uid === permit.podUid)\n    return pod === undefined ? [] : [{ permit, namespace: pod.namespace, podName: pod.name }]\n  })\n  if (unwritten !== undefined && unwritten.length > 0) return { kind: 'execute', pods: unwritten }\n  const change = permitChange(fence, again)",
      },
    ],
    worlds: 'calm',
  },
  {
    guarantee: 'G8',
    fault: 'open records are written without compare-and-swap',
    edits: [
      {
        file: flightRecord,
        find: "  return [\n    sameObject,\n    { op: 'test', path: '/status/flight/epoch'",
        replace:
          "  if (after.state === 'open') return [sameObject, { op: 'replace', path: '/status/flight', value: after }]\n  return [\n    sameObject,\n    { op: 'test', path: '/status/flight/epoch'",
      },
    ],
    worlds: 'crossing',
    named: ['G1', 'G2', 'G3', 'G4'],
  },
  {
    guarantee: 'G8',
    fault: 'executors act on views that are older than the record',
    edits: [{ file: planPass, find: "  { id: 'awaitPods', decide: awaitPods },\n", replace: '' }],
    worlds: 'behind',
    named: ['G1', 'G2', 'G3', 'G4'],
  },
  {
    guarantee: 'G8',
    fault: 'a used permit counts only in the executor that used it',
    edits: [{ file: budget, find: 'if (!isUnsettled(tracked)) return', replace: 'if (!tracked.isSent) return' }],
    worlds: 'calm',
    named: ['G1', 'G2', 'G3', 'G4'],
  },
  {
    guarantee: 'G8',
    fault: 'an executor acts on its permits after another one has overtaken its write',
    edits: [
      {
        file: writeRecord,
        find: 'if (isInvalid(error) || isNotFound(error)) return null',
        replace:
          'if (isInvalid(error)) return { ...release, metadata: { ...release.metadata, resourceVersion: String(Number(release.metadata.resourceVersion) + 400) }, status: { ...release.status, flight: record } } as BatchRelease\n    if (isNotFound(error)) return null',
      },
    ],
    worlds: 'overtaken',
    named: ['G1', 'G2', 'G3', 'G4'],
  },
  {
    guarantee: 'G8',
    fault: 'a pod is deleted in any version',
    edits: [
      {
        file: executorPort,
        find: 'const preconditions = { uid: permit.podUid, resourceVersion: permit.podResourceVersion }',
        replace: 'const preconditions = { uid: permit.podUid }',
      },
    ],
    worlds: 'lagging',
    named: ['G1', 'G2', 'G3', 'G4'],
  },
]
