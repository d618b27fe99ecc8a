import type { Mutant } from './mutant-list.ts'

const plan = 'packages/planner/src/pass/plan-pass.ts'
const order = 'packages/planner/src/pass/candidate-order.ts'
const record = 'packages/flight/src/flight-record.ts'
const permitState = 'packages/flight/src/permit-state.ts'
const allowance = 'packages/flight/src/allowance.ts'
const touch = 'packages/flight/src/touch.ts'
const carried = 'packages/flight/src/carried.ts'
const release = 'packages/planner/src/release/plan-batch-release.ts'
const lettingGo = 'packages/planner/src/release/letting-go.ts'
const wanted = 'packages/planner/src/release/wanted-allowance.ts'
const releaseStatus = 'packages/planner/src/release/release-status.ts'
const progress = 'packages/planner/src/release/batch-progress.ts'
const waiting = 'packages/planner/src/release/stuck-pods.ts'
const labels = 'packages/planner/src/release/plan-labels.ts'
const patch = 'packages/planner/src/release/daemon-set-patch.ts'
const rollout = 'packages/planner/src/rollout/plan-rollout.ts'
const rolloutStatus = 'packages/planner/src/rollout/rollout-status.ts'
const heed = 'packages/planner/src/rollout/heed-wishes.ts'
const answer = 'packages/planner/src/rollout/answer-action.ts'
const held = 'packages/planner/src/rollout/held-revisions.ts'
const revert = 'packages/planner/src/rollout/plan-revert.ts'

const passTests = ['packages/planner/test/pass/plan-pass.test.ts']
const passProperties = ['packages/planner/test/pass/plan-pass.property.test.ts']
const orderTests = ['packages/planner/test/pass/candidate-order.test.ts']
const walk = ['packages/planner/test/fence.property.test.ts']
const recordProperties = ['packages/flight/test/flight-record.property.test.ts']
const allowanceProperties = ['packages/flight/test/allowance.property.test.ts']
const stateTests = ['packages/flight/test/permit-state.test.ts']
const carriedTests = ['packages/flight/test/carried.test.ts']
const releaseProperties = ['packages/planner/test/release/plan-batch-release.property.test.ts']
const lettingGoTests = ['packages/planner/test/release/letting-go.test.ts']
const wantedTests = ['packages/planner/test/release/wanted-allowance.test.ts']
const progressTests = ['packages/planner/test/release/batch-progress.test.ts']
const handsOff = ['packages/planner/test/release/hands-off.property.test.ts']
const patchTests = ['packages/planner/test/release/daemon-set-patch.test.ts']
const rolloutTests = ['packages/planner/test/rollout/plan-rollout.test.ts']
const wishProperties = ['packages/planner/test/rollout/wishes.property.test.ts']
const answerTests = ['packages/planner/test/rollout/answer-action.test.ts']
const heldTests = ['packages/planner/test/rollout/held-revisions.test.ts']
const heldProperties = ['packages/planner/test/rollout/held-revisions.property.test.ts']

/** Faults in what is decided: for a pass of an executor, for a BatchRelease, for a Rollout, and in the record itself. */
export const mutantsOfDecisions: readonly Mutant[] = [
  ...[
    ['for another DaemonSet', 'said.uid === record.workloadUid &&'],
    ['under the control of another BatchRelease', 'said.controlledBy === view.releaseUid &&'],
    ['though another revision is announced', 'said.canaryRevision === record.revision &&'],
    ['though another batch is announced', 'said.partition === record.partition &&'],
    ['beside the native rolling update', "said.strategy === 'OnDelete' &&"],
  ].map(
    ([fault = '', find = '']): Mutant => ({
      rule: 'F1',
      fault: `an executor acts ${fault}`,
      file: plan,
      find,
      replace: '',
      tests: passProperties,
    }),
  ),
  {
    rule: 'F1',
    fault: 'an executor acts before the DaemonSet controller has observed a change',
    file: plan,
    find: 'said.observedGeneration === record.generation',
    replace: 'true',
    tests: passProperties,
  },
  {
    rule: 'G1',
    fault: 'nodes that others took down cost no budget',
    file: plan,
    find: 'const down = new Set(scene.tally.unavailable)',
    replace: 'const down = new Set<string>()',
    tests: passProperties,
  },
  {
    rule: 'G1',
    fault: 'permits in front cost no budget until they are executed',
    file: plan,
    find: '    taken.add(node)\n    down.add(node)',
    replace: '    taken.add(node)',
    tests: passProperties,
  },
  {
    rule: 'G1',
    fault: 'a percentage is rounded down',
    file: 'packages/kube-types/src/int-or-percent.ts',
    find: 'Math.ceil((percent * total) / 100)',
    replace: 'Math.floor((percent * total) / 100)',
    tests: wantedTests,
  },
  {
    rule: 'G1',
    fault: 'a pod that is going counts as available',
    file: 'packages/fleet/src/fleet-pod.ts',
    find: 'if (pod.terminating || !pod.ready) return false',
    replace: 'if (!pod.ready) return false',
    tests: passProperties,
  },
  {
    rule: 'G2',
    fault: 'a node in flight frees its place when its pod is gone',
    file: plan,
    find: 'if (!isUnsettled(flown)) continue',
    replace: "if (!isUnsettled(flown) || flown.state === 'flying') continue",
    tests: passProperties,
  },
  {
    rule: 'G2',
    fault: 'a node without any pod has settled',
    file: permitState,
    find: "? 'settled' : 'flying'",
    replace: "|| node.pods.length === 0 ? 'settled' : 'flying'",
    tests: [...stateTests, ...walk],
  },
  {
    rule: 'G3',
    fault: 'nodes that have a permit are forgotten',
    file: plan,
    find: 'lack: size - tally.onRevision - old.length',
    replace: 'lack: size - tally.onRevision',
    tests: passProperties,
  },
  {
    rule: 'G3',
    fault: 'a batch outside of the plan means every node',
    file: progress,
    find: 'if (plan.batches?.[batch] === undefined) return 0',
    replace: 'if (plan.batches?.[batch] === undefined) return desired',
    tests: progressTests,
  },
  {
    rule: 'G3',
    fault: 'a later batch may be smaller than an earlier one',
    file: progress,
    find: 'Math.min(Math.max(...sizes), desired)',
    replace: 'Math.min(sizes.at(-1) ?? 0, desired)',
    tests: progressTests,
  },
  {
    rule: 'G4',
    fault: 'a pod of the new revision is deleted by a permit from before',
    file: plan,
    find: 'return isOld(flown.pod, scene.record.revision) && isTakeable',
    replace: 'return isTakeable',
    tests: passProperties,
  },
  {
    rule: 'G4',
    fault: 'a permit is used though its pod has changed',
    file: plan,
    find: "if (flown.state !== 'standing' || flown.pod === undefined || flown.isSent) return false",
    replace: 'if (flown.pod === undefined || flown.isSent) return false',
    tests: passProperties,
  },
  {
    rule: 'G4',
    fault: 'a pod without a known revision is not old',
    file: 'packages/planner/src/old-nodes.ts',
    find: 'return !pod.terminating && pod.hash !== revision',
    replace: 'return !pod.terminating && pod.hash !== undefined && pod.hash !== revision',
    tests: passProperties,
  },
  {
    rule: 'G4',
    fault: 'a pod that is going is taken again',
    file: 'packages/planner/src/old-nodes.ts',
    find: 'return !pod.terminating && pod.hash !== revision',
    replace: 'return pod.hash !== revision',
    tests: passProperties,
  },
  {
    rule: 'G5',
    fault: 'age does not count',
    file: order,
    find: '    compareText(a.pod.createdAt, b.pod.createdAt) ||\n',
    replace: '',
    tests: orderTests,
  },
  {
    rule: 'G5',
    fault: 'the choice depends on the order in which pods were delivered',
    file: order,
    find: 'if (compareCandidates(candidate, first[middle]!, revisions) < 0) high = middle',
    replace: 'if (compareCandidates(candidate, first[middle]!, revisions) > 0) high = middle',
    tests: passProperties,
  },
  {
    rule: 'G6',
    fault: 'the permit of a node that died stays in front',
    file: plan,
    find: 'if (unwanted.length > 0) return unwanted',
    replace: '',
    tests: [...passTests, ...passProperties],
  },
  {
    rule: 'G6',
    fault: 'a node that died is never passed over',
    file: progress,
    find: 'effectiveSize = Math.min(size, desired - counts.skipped.length)',
    replace: 'effectiveSize = size',
    tests: progressTests,
  },
  {
    rule: 'F2',
    fault: 'a write does not rest on what it saw to settle',
    file: plan,
    find: '[...onNodes, ...append.map(({ pod }) => pod)]',
    replace: '[...append.map(({ pod }) => pod)]',
    tests: [...passTests, ...walk],
  },
  {
    rule: 'F3',
    fault: 'a node is permitted twice',
    file: plan,
    find: 'from.filter((node) => !permitted.has(node.name))',
    replace: 'from',
    tests: passProperties,
  },
  {
    rule: 'F3',
    fault: 'new permits go in front',
    file: record,
    find: '[...record.permits.filter((permit) => !gone.has(permitId(permit))), ...change.append]',
    replace: '[...change.append, ...record.permits.filter((permit) => !gone.has(permitId(permit)))]',
    tests: recordProperties,
  },
  {
    rule: 'G8',
    fault: 'two executors fill the same gap',
    file: record,
    find: '    seq: record.seq + 1,\n    watermark: change',
    replace: '    seq: record.seq,\n    watermark: change',
    tests: recordProperties,
  },
  {
    rule: 'F6',
    fault: 'a node that is no longer desired has settled',
    file: permitState,
    find: "if (node === undefined || !node.desired) return 'left'",
    replace: "if (node === undefined || !node.desired) return 'settled'",
    tests: stateTests,
  },
  {
    rule: 'F6',
    fault: 'minReadySeconds is over at once',
    file: permitState,
    find: 'isAvailable(other, availability.minReadyMs, availability.monotonicMs)',
    replace: 'isAvailable(other, 0, availability.monotonicMs)',
    tests: stateTests,
  },
  {
    rule: 'F7',
    fault: 'a permit leaves though its pod is going',
    file: touch,
    find: "answer.kind === 'standing' ? [",
    replace: "answer.kind !== 'unclear' ? [",
    tests: recordProperties,
  },
  {
    rule: 'F7',
    fault: 'the version that a touch made is forgotten',
    file: touch,
    find: '    standing.map(({ version }) => version),',
    replace: '    [],',
    tests: recordProperties,
  },
  {
    rule: 'F8',
    fault: 'a record stops with permits that nobody touched',
    file: touch,
    find: 'clear === touched.length && touched.length === record.permits.length',
    replace: 'clear === touched.length',
    tests: recordProperties,
  },
  {
    rule: 'F8',
    fault: 'standing permits are settled away in a pause',
    file: plan,
    find: "const gone = scene.permits.filter(({ state }) => state === 'settled' || state === 'left')",
    replace: "const gone = scene.permits.filter(({ state }) => state !== 'flying')",
    tests: passProperties,
  },
  {
    rule: 'F8',
    fault: 'another revision widens',
    file: allowance,
    find: 'from.revision !== to.revision || ',
    replace: '',
    tests: allowanceProperties,
  },
  {
    rule: 'F11',
    fault: 'another DaemonSet widens',
    file: allowance,
    find: 'from.workloadUid !== to.workloadUid || ',
    replace: '',
    tests: allowanceProperties,
  },
  {
    rule: 'F10',
    fault: 'a lower limit is taken for no change',
    file: allowance,
    find: 'if (to.limit < from.limit)',
    replace: 'if (to.limit + 1 < from.limit)',
    tests: allowanceProperties,
  },
  {
    rule: 'F10',
    fault: 'a lower limit brings a larger batch with it',
    file: release,
    find: 'const lowerTo = { workloadUid, generation, revision, partition, limit }',
    replace: 'const lowerTo = { workloadUid, generation, revision, partition: 0, limit }',
    tests: releaseProperties,
  },
  {
    rule: 'F11',
    fault: 'a write for a BatchRelease that is gone hits the next of its name',
    file: record,
    find: "  return [\n    sameObject,\n    { op: 'test', path: '/status/flight/epoch'",
    replace: "  return [\n    { op: 'test', path: '/status/flight/epoch'",
    tests: recordProperties,
  },
  {
    rule: 'F9',
    fault: 'other reasons are written over a record that has moved on',
    file: record,
    find: 'return { ...record, seq: record.seq + 1, holds }',
    replace: 'return { ...record, holds }',
    tests: recordProperties,
  },
  {
    rule: 'F9',
    fault: 'a record is opened before the DaemonSet says so',
    file: release,
    find: '  if (announced !== null) return announced\n  const open',
    replace: '  const open',
    tests: releaseProperties,
  },
  {
    rule: 'F9',
    fault: 'a larger batch is allowed before the DaemonSet says so',
    file: release,
    find: "  if (announced !== null) return announced\n  if (direction === 'widens')",
    replace: "  if (direction === 'widens')",
    tests: releaseProperties,
  },
  {
    rule: 'F8',
    fault: 'a pod of a voiding record is not touched',
    file: release,
    find: "{ kind: 'touchPermits', permits: record.permits, lowerTo: null }",
    replace: "{ kind: 'touchPermits', permits: record.permits.slice(1), lowerTo: null }",
    tests: releaseProperties,
  },
  {
    rule: 'G9',
    fault: 'a stop is acknowledged while the record is open',
    file: releaseStatus,
    find: "(record.state === 'stopped' && record.holds.length > 0)",
    replace: 'true',
    tests: releaseProperties,
  },
  {
    rule: 'G9',
    fault: 'a stop is acknowledged by a record that stopped for something else',
    file: releaseStatus,
    find: "(record.state === 'stopped' && record.holds.length > 0)",
    replace: "record.state === 'stopped'",
    tests: releaseProperties,
  },
  {
    rule: 'G9',
    fault: 'a pause of the Rollout does not reach its release',
    file: wanted,
    find: 'if (release.spec.tranche?.paused === true)',
    replace: 'if (release.spec.tranche === null)',
    tests: [...wantedTests, ...releaseProperties],
  },
  {
    rule: 'G9',
    fault: 'a Rollout acknowledges a stop before its release has',
    file: rolloutStatus,
    find: "if (course.phase === 'Progressing') return acknowledged ? generation : before",
    replace: "if (course.phase === 'Progressing') return generation",
    tests: rolloutTests,
  },
  {
    rule: 'G9',
    fault: 'a leader with an old Rollout undoes what was written for a newer one',
    file: rollout,
    find: 'return (release?.spec.tranche?.rolloutGeneration ?? 0) > (rollout.metadata.generation ?? 0)',
    replace: 'return false',
    tests: rolloutTests,
  },
  {
    rule: 'F11',
    fault: 'the finalizer goes while the DaemonSet is still ours',
    file: release,
    find: 'return calm && (daemonSet === undefined || !isInCharge(view, daemonSet)) ?',
    replace: 'return calm ?',
    tests: releaseProperties,
  },
  {
    rule: 'F11',
    fault: 'control is given up while the record is open',
    file: lettingGo,
    find: "if (record !== undefined && record.state !== 'stopped') return null",
    replace: '',
    tests: [...releaseProperties, ...lettingGoTests],
  },
  {
    rule: 'F11',
    fault: 'what is in flight is not written down for whoever comes next',
    file: lettingGo,
    find: 'const carried = record === undefined ? null : carryOver(record)',
    replace: 'const carried = record === undefined || record.epoch > 0 ? null : carryOver(record)',
    tests: lettingGoTests,
  },
  {
    rule: 'F11',
    fault: 'what the last release left in flight goes behind',
    file: carried,
    find: 'permits: [...missing, ...record.permits]',
    replace: 'permits: record.permits',
    tests: [...carriedTests, ...lettingGoTests],
  },
  {
    rule: 'F12',
    fault: 'stuck pods are told of only when they are more than the budget',
    file: waiting,
    find: 'if (nodes.length < limit || ',
    replace: 'if (nodes.length <= limit || ',
    tests: releaseProperties,
  },
  {
    rule: 'F12',
    fault: 'stuck pods of nodes that are not desired count',
    file: waiting,
    find: '.filter(({ desired }) => desired)',
    replace: '',
    tests: ['packages/planner/test/release/stuck-pods.test.ts'],
  },
  {
    rule: 'F13',
    fault: 'pods of any revision get labels',
    file: labels,
    find: 'pod.hash === revision && !pod.terminating',
    replace: '!pod.terminating',
    tests: releaseProperties,
  },
  {
    rule: 'G11',
    fault: 'the type to give back is overwritten',
    file: patch,
    find: 'annotations: remembered === undefined ? {',
    replace: 'annotations: remembered !== null ? {',
    tests: [...handsOff, ...patchTests],
  },
  {
    rule: 'G11',
    fault: 'what somebody wrote in between is undone',
    file: patch,
    find: "    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },\n",
    replace: '',
    tests: patchTests,
  },
  {
    rule: 'G11',
    fault: "the user's annotations are replaced",
    file: patch,
    find: 'const parent: PatchOperation[] = present === undefined ?',
    replace: 'const parent: PatchOperation[] = present !== null ?',
    tests: handsOff,
  },
  {
    rule: 'G11',
    fault: "the user's labels are replaced",
    file: patch,
    find: 'const parent: PatchOperation[] = labels === undefined ?',
    replace: 'const parent: PatchOperation[] = labels !== null ?',
    tests: handsOff,
  },
  {
    rule: 'G11',
    fault: 'the strategy is given back though nobody remembers it',
    file: patch,
    find: "return remembered === 'RollingUpdate' || remembered === 'OnDelete' ? remembered : undefined",
    replace: "return remembered === 'OnDelete' ? remembered : 'RollingUpdate'",
    tests: [...handsOff, ...patchTests],
  },
  {
    rule: 'G10',
    fault: 'an approval is put back without a word',
    file: heed,
    find: 'if (isApproval && !isHeld(status, canary)) return { canary, warning: null }',
    replace: 'if (isApproval && !isHeld(status, canary)) return { canary: { ...canary, currentStepState: own }, warning: null }',
    tests: wishProperties,
  },
  {
    rule: 'G10',
    fault: 'a step is approved that nobody has seen paused',
    file: heed,
    find: "own === 'StepPaused' && asked === 'StepReady'",
    replace: "asked === 'StepReady'",
    tests: [...wishProperties, ...rolloutTests],
  },
  {
    rule: 'G10',
    fault: 'a jump is put back without a word',
    file: heed,
    find: 'if (isOwn || (nextStepIndex >= 1 && nextStepIndex <= steps)) return { canary, warning: null }',
    replace:
      'if (isOwn || nextStepIndex >= 1) return { canary: { ...canary, nextStepIndex: nextIndex(currentStepIndex, steps) }, warning: null }',
    tests: wishProperties,
  },
  {
    rule: 'G7',
    fault: 'an action is carried out again by whoever comes next',
    file: answer,
    find: 'return answeredIds(rollout).includes(lastAction.id) ? null : { lastAction, effect }',
    replace: 'return { lastAction, effect }',
    tests: answerTests,
  },
  {
    rule: 'G12',
    fault: 'a held template is not known again',
    file: held,
    find: 'return held.find((one) => one.digest === digest)',
    replace: "return held.find((one) => one.digest === '')",
    tests: [...heldTests, ...heldProperties],
  },
  {
    rule: 'G12',
    fault: 'a held template leads on when it is applied again',
    file: 'packages/planner/src/rollout/release-spec.ts',
    find: 'if (held === undefined) return {}',
    replace: 'if (held !== null) return {}',
    tests: [...heldTests, ...heldProperties],
  },
  {
    rule: 'G12',
    fault: 'the template is put back again and again',
    file: held,
    find: 'return held.reverted !== false || metadata.annotations?.[daemonSetAnnotations.reverted] === held.at',
    replace: 'return metadata.annotations?.[daemonSetAnnotations.reverted] === "" && held.at === ""',
    tests: heldTests,
  },
  {
    rule: 'G12',
    fault: 'a template is put back over one that was applied in between',
    file: revert,
    find: "    { op: 'test', path: '/metadata/generation', value: daemonSet.metadata.generation },\n",
    replace: '',
    tests: heldTests,
  },
]
