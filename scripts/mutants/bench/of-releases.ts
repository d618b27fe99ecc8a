import type { BluntMutant } from './blunt-mutant.ts'

const oldNodes = 'packages/core/fence/src/nodes/old-nodes.ts'
const groupRules = 'packages/core/planner/src/release/progress/group-rules.ts'
const order = 'packages/core/fence/src/pass/candidate-order.ts'
const chooseCandidates = 'packages/core/fence/src/pass/choose-candidates.ts'
const planPass = 'packages/core/fence/src/pass/plan-pass.ts'
const permitChange = 'packages/core/fence/src/pass/permit-change.ts'
const planRelease = 'packages/core/planner/src/release/plan-batch-release.ts'
const batchProgress = 'packages/core/planner/src/release/progress/batch-progress.ts'
const wantedAllowance = 'packages/core/planner/src/release/progress/wanted-allowance.ts'
const judgement = 'packages/core/planner/src/release/progress/judgement.ts'
const releaseStatus = 'packages/core/planner/src/release/release-status.ts'
const advanceStep = 'packages/core/planner/src/rollout/release/advance-step.ts'
const answerAction = 'packages/core/planner/src/rollout/actions/answer-action.ts'
const rolloutStatus = 'packages/core/planner/src/rollout/rollout-status.ts'
const releaseSpec = 'packages/core/planner/src/rollout/release/release-spec.ts'
const progressing = 'packages/core/planner/src/rollout/states/progressing-state.ts'
const going = 'packages/core/planner/src/rollout/states/teardown-state.ts'
const planRollout = 'packages/core/planner/src/rollout/plan-rollout.ts'
const flightRecord = 'packages/core/fence/src/record/flight-record.ts'
const refuseAction = 'packages/core/actions/src/refuse-action.ts'
const releasePass = 'packages/shells/controllers/src/release-pass.ts'
const executorPass = 'packages/shells/partition-executor/src/executor-pass.ts'
const compare = 'function compareCandidates(a: Candidate, b: Candidate, rules: ChoiceRules): number {'

/** Faults in how a release continues, stops, and ends: G5 to G7, and G9. */
export const mutantsOfReleases: readonly BluntMutant[] = [
  {
    guarantee: 'G5',
    fault: 'the order is reversed',
    edits: [{ file: order, find: compare, replace: compare.replace('(a: Candidate, b: Candidate', '(b: Candidate, a: Candidate') }],
  },
  {
    guarantee: 'G5',
    fault: 'pods are updated in the order of their names',
    edits: [{ file: order, find: compare, replace: `${compare}\n  if (a !== b) return compareText(a.pod.name, b.pod.name)` }],
    worlds: 'rollovers',
  },
  {
    guarantee: 'G5',
    fault: 'healthy pods go first',
    edits: [
      { file: order, find: 'healthRank(a, rules) - healthRank(b, rules) ||', replace: 'healthRank(b, rules) - healthRank(a, rules) ||' },
    ],
    worlds: 'flapping',
  },
  {
    guarantee: 'G5',
    fault: 'superseded revisions go last',
    edits: [
      {
        file: order,
        find: 'supersededRank(a.pod, rules) - supersededRank(b.pod, rules) ||',
        replace: 'supersededRank(b.pod, rules) - supersededRank(a.pod, rules) ||',
      },
    ],
    worlds: 'rollovers',
  },
  {
    guarantee: 'G5',
    fault: 'broken pods go before superseded ones while there is budget left',
    edits: [{ file: chooseCandidates, find: 'if (hasBudgetLeft(fence)) return first(free)', replace: '' }],
    worlds: 'superseded',
  },
  {
    guarantee: 'G5',
    fault: 'nodes in maintenance are taken like any other',
    edits: [{ file: oldNodes, find: 'node.maintenance === undefined && (node.ready', replace: '(node.ready' }],
    worlds: 'maintained',
  },
  {
    guarantee: 'G6',
    fault: 'the strategy is never restored',
    edits: [
      {
        file: planRelease,
        find: 'const patch = daemonSetPatch(daemonSet, restoring(view, daemonSet))',
        replace: 'const patch = null as ReturnType<typeof daemonSetPatch>',
      },
    ],
    worlds: 'calm',
  },
  {
    guarantee: 'G6',
    fault: 'no batch is ever ready',
    edits: [
      {
        file: batchProgress,
        find: "return available >= needed ? 'Ready' : 'Verifying'",
        replace: "return available > needed + 1e6 ? 'Ready' : 'Verifying'",
      },
    ],
    worlds: 'calm',
  },
  {
    guarantee: 'G6',
    fault: 'a stopped record is never reopened',
    edits: [
      {
        file: planRelease,
        find: 'return record.workloadUid === wanted.allowance.workloadUid ? open :',
        replace:
          'if (record.epoch > 1) return waitFor(view, wanted)\n  return record.workloadUid === wanted.allowance.workloadUid ? open :',
      },
    ],
    worlds: 'stopped',
  },
  {
    guarantee: 'G6',
    fault: 'a permit whose pod has changed stays in the record forever',
    edits: [{ file: permitChange, find: "isOver(tracked) || tracked.state === 'dead')", replace: 'isOver(tracked))' }],
    worlds: 'changing',
  },
  {
    guarantee: 'G6',
    fault: 'no pause ends by time',
    edits: [
      { file: advanceStep, find: 'if (leftMs > 0) return {', replace: 'if (leftMs > -1e15) return paused\n  if (leftMs > 0) return {' },
    ],
    worlds: 'timed',
  },
  {
    guarantee: 'G6',
    fault: 'objects of another namespace count as the DaemonSet’s own',
    edits: [
      {
        file: 'packages/words/kube-types/src/ownership.ts',
        find: "ownerKeyOf({ metadata: { namespace = '', uid } }: Pick<OwnerOfObjects, 'metadata'>): string {",
        replace: "ownerKeyOf({ metadata: { uid } }: Pick<OwnerOfObjects, 'metadata'>): string {\n  const namespace = ''",
      },
    ],
    worlds: 'tenant',
  },
  {
    guarantee: 'G7',
    fault: 'no action is ever answered',
    edits: [
      {
        file: answerAction,
        find: 'if (isPending(view) && !isLost) return null',
        replace: 'if (isPending(view) || type !== undefined) return null',
      },
    ],
    worlds: 'people',
  },
  {
    guarantee: 'G7',
    fault: 'an answered action is answered again five seconds later',
    edits: [
      {
        file: answerAction,
        find: 'if (isAnswered(view.rollout, body, type)) return null',
        // Without a delay between two answers it would write forever, and no world would end.
        replace:
          "const restMs = view.nowMs - Date.parse(view.rollout.status?.lastAction?.at ?? '')\n  if (isAnswered(view.rollout, body, type) && restMs < 5_000) return null",
      },
      { file: answerAction, find: 'if (answeredIds(view.rollout).includes(id)) {', replace: 'if (view.nowMs < 0) {' },
    ],
    worlds: 'people',
  },
  {
    guarantee: 'G7',
    fault: 'permits are lost while their nodes are in flight',
    edits: [
      {
        file: flightRecord,
        find: 'permits: [...record.permits.filter((permit) => !gone.has(permitId(permit))), ...change.append],',
        replace:
          'permits: [...(change.remove.length > 0 ? [] : record.permits.filter((permit) => !gone.has(permitId(permit)))), ...change.append],',
      },
    ],
    worlds: 'rollovers',
  },
  {
    guarantee: 'G7',
    fault: 'no change of the spec is ever acknowledged',
    edits: [
      {
        file: rolloutStatus,
        find: "if (state.phase === 'Progressing') return acknowledged ? generation : before\n  if (state.phase === 'Healthy') return acknowledged || completed || !present ? generation : before",
        replace: 'if (before > 0) return completed && acknowledged && present ? before : before',
      },
    ],
    worlds: 'people',
  },
  {
    guarantee: 'G7',
    fault: 'members that a newer version has written are lost',
    edits: [
      {
        file: rolloutStatus,
        find: 'const kept = withoutOwnWords(before)',
        replace:
          'const { lastAction, answeredActions, answeredBodies } = withoutOwnWords(before)\n  const kept = JSON.parse(JSON.stringify({ lastAction, answeredActions, answeredBodies }))',
      },
    ],
    worlds: 'upgrades',
  },
  {
    guarantee: 'G7',
    fault: 'every undo is refused',
    edits: [
      {
        file: refuseAction,
        find: 'undo: () => null,',
        replace: "undo: ({ standing }) => refused('ACTION_REJECTED', standingText(standing), ''),",
      },
    ],
    worlds: 'asked',
  },
  {
    guarantee: 'G7',
    fault: 'every restart is refused',
    edits: [
      {
        file: refuseAction,
        find: 'restart: () => null,',
        replace: "restart: ({ standing }) => refused('ACTION_REJECTED', standingText(standing), ''),",
      },
    ],
    worlds: 'asked',
  },
  {
    guarantee: 'G9',
    fault: 'a pause is acknowledged before anything has stopped',
    edits: [
      { file: progressing, find: 'if (!paused)\n', replace: 'if (!paused && view.nowMs < 0)\n' },
      { file: releaseStatus, find: 'return stopped && opened ? generation :', replace: 'return stopped || opened ? generation :' },
      { file: wantedAllowance, find: '  driftStop,\n  pause,\n', replace: '  driftStop,\n' },
    ],
    worlds: 'stopped',
  },
  {
    guarantee: 'G9',
    fault: 'executors continue under a stopped record',
    edits: [
      { file: planPass, find: "  { id: 'settleOnly', decide: settleOnly },\n", replace: '' },
      { file: planPass, find: "    record.state === 'open' &&\n", replace: '' },
      { file: planPass, find: '!said.paused &&', replace: '' },
    ],
    worlds: 'stopped',
  },
  {
    guarantee: 'G9',
    fault: 'a stop withdraws no permit',
    edits: [
      {
        file: releasePass,
        find: 'if (permits.length === 0) return []',
        replace: "if (permits.length >= 0) return permits.map((permit) => ({ permit, answer: { kind: 'executed' } }))",
      },
    ],
    worlds: 'stopped',
  },
  {
    guarantee: 'G9',
    fault: 'disabling a Rollout is acknowledged but stops nothing',
    edits: [
      { file: going, find: 'if (view.release !== undefined && !isForeign(view)) return {', replace: 'if (view.nowMs < 0) return {' },
      { file: rolloutStatus, find: 'return present ? before : generation', replace: 'return generation' },
      {
        file: planRollout,
        find: "    if (release === undefined || isForeign(view)) return planUnbinding(view)\n    return release.metadata.deletionTimestamp === undefined ? { kind: 'deleteRelease' } : null",
        replace: '    return release === undefined ? planUnbinding(view) : null',
      },
    ],
    worlds: 'disabled',
  },
  {
    guarantee: 'G9',
    fault: 'a release continues with a version that fails',
    edits: [
      {
        file: wantedAllowance,
        find: 'return stops === null ? null : stop(stops.reason',
        replace: 'return stops === null || view.nowMs > 0 ? null : stop(stops.reason',
      },
      {
        file: executorPass,
        find: 'return judgement !== null && (judgement.stops !== null || judgement.isInDoubt)',
        replace: 'return false',
      },
    ],
    worlds: 'crashing',
  },
  {
    guarantee: 'G9',
    fault: 'nodes that a release left are updated without a verdict',
    edits: [
      { file: judgement, find: '!isAfterEnd(release) && !(', replace: '!(' },
      { file: executorPass, find: ' && !isAfterEnd(release)) return false', replace: ') return false' },
    ],
    worlds: 'returned',
  },
  {
    guarantee: 'G9',
    fault: 'a pause is ignored, and its generation observed',
    edits: [
      {
        file: releaseSpec,
        find: 'paused: rollout.spec.strategy.paused === true && !endsRelease(rollout),',
        replace: 'paused: endsRelease(rollout) && !endsRelease(rollout),',
      },
      {
        file: progressing,
        find: 'const isPaused = view.rollout.spec.strategy.paused === true',
        replace: 'const isPaused = view.nowMs < 0',
      },
    ],
    worlds: 'halted',
  },
  {
    guarantee: 'G9',
    fault: 'every node counts as bad before its update',
    edits: [
      {
        file: permitChange,
        find: 'return node.ready && !isBad ? {} : { wasBad: true }',
        replace: 'return node.ready && node.pods.length > 99 ? {} : { wasBad: true }',
      },
    ],
    worlds: 'crashing',
  },
  {
    guarantee: 'G13',
    fault: 'a release opens although another one holds the Lease of its group',
    edits: [
      { file: groupRules, find: 'return isHeldBy(group.lease, release) && !isLeaving(group.lease)', replace: "return group.name !== ''" },
    ],
    worlds: 'grouped',
  },
]
