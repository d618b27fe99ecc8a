import type { Mutant } from './mutant.ts'

const suspects = 'packages/core/verdict/src/suspects.ts'
const failedNode = 'packages/core/verdict/src/failed-node.ts'
const downTime = 'packages/core/verdict/src/down-time.ts'
const watchNodes = 'packages/core/verdict/src/watch-nodes.ts'
const failureStatus = 'packages/core/verdict/src/failure-status.ts'
const badBefore = 'packages/core/verdict/src/bad-before.ts'
const judgement = 'packages/core/planner/src/release/progress/judgement.ts'
const judgedReleaseFile = 'packages/core/verdict/src/judged-release.ts'
const planBatchRelease = 'packages/core/planner/src/release/plan-batch-release.ts'

const judgeTests = 'packages/core/verdict/test/judge-revision.test.ts'
const releaseTests = 'packages/core/verdict/test/judge-release.test.ts'
const watchTests = 'packages/core/verdict/test/watch-nodes.test.ts'
const properties = 'packages/core/verdict/test/verdict.property.test.ts'
const passTests = 'packages/core/fence/test/pass/plan-pass.test.ts'
const leftTests = 'packages/core/planner/test/rollout/left-behind.test.ts'
const detachTests = 'packages/core/planner/test/release/detach.test.ts'

/** Faults in the verdict on the new version, and in its effect. */
export const mutantsOfVerdict: readonly Mutant[] = [
  {
    rule: 'verdict',
    fault: 'a node that was bad before its update counts',
    file: badBefore,
    find: 'permit.wasBad === true &&',
    replace: 'permit.wasBad === undefined &&',
    tests: [judgeTests],
  },
  {
    rule: 'verdict',
    fault: 'a node that was bad before its update never counts again',
    file: badBefore,
    find: " && permitState(permit, nodeInView(fleet, permit.node), availability) !== 'settled'",
    replace: '',
    tests: [judgeTests],
  },
  {
    rule: 'verdict',
    fault: 'pods from before the release count',
    file: suspects,
    find: ' || olderText.includes(pod.uid)',
    replace: '',
    tests: [judgeTests],
  },
  {
    rule: 'verdict',
    fault: 'nodes that a release had updated count after its end',
    file: judgedReleaseFile,
    find: 'if (names === undefined) return undefined',
    replace: 'if (names !== undefined) return undefined',
    tests: [releaseTests],
  },
  {
    rule: 'verdict',
    fault: 'a failure of the release still counts after its end',
    file: judgedReleaseFile,
    find: 'return isAfterEnd(release) ?',
    replace: 'return release === undefined ?',
    tests: [releaseTests],
  },
  {
    rule: 'verdict',
    fault: 'nodes that a release left fail it because they are NotReady',
    file: 'packages/core/verdict/src/judge-release.ts',
    find: 'notReadyDue: isAfterEnd(release) ? undefined : given.notReadyDue',
    replace: 'notReadyDue: given.notReadyDue',
    tests: [releaseTests],
  },
  {
    rule: 'verdict',
    fault: 'nodes that a release had updated are watched after its end',
    file: watchNodes,
    find: 'judged === undefined ? found : found.filter',
    replace: 'judged !== undefined ? found : found.filter',
    tests: [watchTests],
  },
  {
    rule: 'verdict',
    fault: 'nodes that a release left are updated without a verdict',
    file: judgement,
    find: '!isAfterEnd(release) && ',
    replace: '',
    tests: [leftTests],
  },
  {
    rule: 'verdict',
    fault: 'an executor updates nodes that a release left without a verdict',
    file: 'packages/shells/partition-executor/src/executor-pass.ts',
    find: ' && !isAfterEnd(release)) return false',
    replace: ') return false',
    tests: ['packages/shells/partition-executor/test/executor-pass.test.ts'],
  },
  ...['left?.nodes ?? due.map(({ name }) => name)', 'due.map(({ name }) => name)'].map((replace) => ({
    rule: 'verdict',
    fault: `the nodes that a release left are only those that ${replace.startsWith('due') ? 'still run an old pod' : 'were listed first'}`,
    file: 'packages/core/planner/src/rollout/release/left-at-end.ts',
    find: '[...new Set([...(left?.nodes ?? []), ...due.map(({ name }) => name)])]',
    replace: `[...(${replace})]`,
    tests: [leftTests],
  })),
  {
    rule: 'verdict',
    fault: 'a release of the stable revision is never stopped, although it rolls nothing back',
    file: judgedReleaseFile,
    find: ' && tranche.left === undefined',
    replace: '',
    tests: [releaseTests],
  },
  {
    rule: 'verdict',
    fault: 'a release of the stable revision forgets which nodes had failed',
    file: 'packages/core/planner/src/rollout/release/left-at-end.ts',
    find: 'left: { nodes: unwell.map(({ name }) => name) }',
    replace: 'left: { nodes: [] }',
    tests: ['test/scenarios/left-nodes.test.ts'],
  },
  {
    rule: 'verdict',
    fault: 'a node that was lost in mid-update is not judged',
    file: 'packages/core/planner/src/rollout/release/left-at-end.ts',
    find: ' || (taken.has(node.name) && !hasRun(node))',
    replace: '',
    tests: [leftTests],
  },
  {
    rule: 'verdict',
    fault: 'failures that a retry accepted count again after the end of the release',
    file: judgedReleaseFile,
    find: ' || failure?.release === nameOf(release)',
    replace: '',
    tests: [releaseTests],
  },
  {
    rule: 'verdict',
    fault: 'a failure that has healed stops a release without nodes left',
    file: failureStatus,
    find: 'if (isWhole && !verdict.isBad) return null',
    replace: '',
    tests: [releaseTests],
  },
  {
    rule: 'verdict',
    fault: 'a node that crashes after the end keeps the DaemonSet from being given back',
    file: 'packages/core/verdict/src/judge-release.ts',
    find: ', ...unjudgedNodes(given)]',
    replace: ']',
    tests: [releaseTests],
  },
  {
    rule: 'verdict',
    fault: 'a retry does not reach a release that has ended',
    file: 'packages/core/planner/src/rollout/release/release-spec.ts',
    find: '...(retry !== undefined && { retry }),\n  }',
    replace: '}',
    tests: [leftTests],
  },
  {
    rule: 'verdict',
    fault: 'the retry of a release counts after its end',
    file: 'packages/core/planner/src/rollout/release/release-spec.ts',
    find: 'hold: _lifted, retry: _ofRelease, left: _known',
    replace: 'hold: _lifted, left: _known',
    tests: [leftTests],
  },
  {
    rule: 'verdict',
    fault: 'a failure after the end of a release is not reported as Stalled',
    file: 'packages/core/planner/src/rollout/states/resting-state.ts',
    find: 'stalled: failed?.stalled ?? budgetStall',
    replace: 'stalled: budgetStall',
    tests: [leftTests],
  },
  {
    rule: 'verdict',
    fault: 'a resume after a pause does not lift a failure after the end of a release',
    file: 'packages/core/planner/src/rollout/states/resting-state.ts',
    find: 'const acceptedActions = actionsAfterPause(view, daemonSet, before)',
    replace: 'const { acceptedActions } = before',
    tests: [leftTests],
  },
  {
    rule: 'verdict',
    fault: 'pods of a frozen release count as older than the next release of their revision',
    file: judgement,
    find: 'return frozen === null ? firstObservation(',
    replace: 'return frozen === null || frozen.revision !== undefined ? firstObservation(',
    tests: [detachTests],
  },
  {
    rule: 'verdict',
    fault: 'a release is opened before executors can know the frozen pods',
    file: planBatchRelease,
    find: "if (watch !== null) return { kind: 'writeStatus', status: watch }",
    replace: '',
    tests: [detachTests],
  },
  {
    rule: 'verdict',
    fault: 'a node that was NotReady before is blamed on the update that fixes it',
    file: suspects,
    find: 'return lostMs === null || takenMs === null || lostMs >= takenMs',
    replace: 'return lostMs === null || lostMs >= 0',
    tests: [judgeTests],
  },
  {
    rule: 'verdict',
    fault: 'restarts are forgotten with their pod',
    file: watchNodes,
    find: 'return entryOf({ node, since: pod.createdAt, uid: pod.uid, restarts: earlier + seen, seen: restarts, ...ignored })',
    replace: 'return entryOf({ node, since: pod.createdAt, uid: pod.uid, seen: restarts, ...ignored })',
    tests: [watchTests, properties],
  },
  {
    rule: 'verdict',
    fault: 'the flapping time starts again from zero',
    file: downTime,
    find: 'const beforeMs = (watched?.downSeconds ?? 0) * 1000',
    replace: 'const beforeMs = 0',
    tests: [watchTests, properties],
  },
  {
    rule: 'verdict',
    fault: 'the deadline counts the time of a stop',
    file: downTime,
    find: 'times.nowMs - sinceMs - Math.max(0, stoppedMs(times, times.nowMs) - stoppedAtMs)',
    replace: 'times.nowMs - sinceMs',
    tests: [judgeTests, properties],
  },
  {
    rule: 'verdict',
    fault: 'an unschedulable pod waits for the long deadline',
    file: failedNode,
    find: "return isMissing || pod?.trouble?.reason === 'Unschedulable'",
    replace: 'return isMissing',
    tests: [judgeTests],
  },
  {
    rule: 'verdict',
    fault: 'a node that turns NotReady after its update is ignored',
    file: failedNode,
    find: 'if (!suspect.hasLostNode ||',
    replace: 'if (suspect.pod !== undefined ||',
    tests: [judgeTests],
  },
  {
    rule: 'verdict',
    fault: 'a release continues automatically once its pods recover',
    file: failureStatus,
    find: 'if (verdict.isBad || terms.autoResumeMs === null || recoveredMs === null) return before',
    replace: 'if (verdict.isBad) return before',
    tests: [releaseTests],
  },
  {
    rule: 'verdict',
    fault: 'a retry lifts nothing',
    file: failureStatus,
    find: 'before?.stops !== true || before.retry !== tranche?.retry || isReturn',
    replace: 'before?.stops !== true || isReturn',
    tests: [releaseTests],
  },
  {
    rule: 'verdict',
    fault: 'a bad stable revision stops the rollback',
    file: failureStatus,
    find: "const mayStop = !isReturn && terms.action !== 'Continue'",
    replace: "const mayStop = terms.action !== 'Continue'",
    tests: [releaseTests],
  },
  {
    rule: 'verdict',
    fault: 'an executor continues while the new version is bad',
    file: 'packages/core/fence/src/pass/plan-pass.ts',
    find: "  { id: 'stopOnVerdict', decide: stopOnVerdict },\n",
    replace: '',
    tests: [passTests],
  },
]
