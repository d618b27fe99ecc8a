import { validationMutants } from './validation-mutants.ts'
import { wishMutants } from './wish-mutants.ts'
import { mutantsOfDecisions } from './mutants-of-decisions.ts'
import { mutantsOfPrograms } from './mutants-of-programs.ts'

/** A deliberate fault, and the tests that must notice it. */
export interface Mutant {
  /** The rule or guarantee that it breaks: `F2`, `G5` …; several mutants may break one. */
  readonly rule: string
  /** What goes wrong, in present tense. */
  readonly fault: string
  readonly file: string
  /** Text that stands in the file exactly once. */
  readonly find: string
  readonly replace: string
  /** Test files of which at least one must fail. */
  readonly tests: readonly string[]
}

const plan = 'packages/planner/src/pass/plan-pass.ts'
const order = 'packages/planner/src/pass/candidate-order.ts'
const tally = 'packages/planner/src/pass/node-tally.ts'
const countQuestion = 'packages/planner/src/count-question.ts'
const counts = 'packages/cluster/src/is-same-but-for-counts.ts'
const record = 'packages/flight/src/flight-record.ts'
const carried = 'packages/flight/src/carried.ts'
const permitState = 'packages/flight/src/permit-state.ts'
const allowance = 'packages/flight/src/allowance.ts'
const touch = 'packages/flight/src/touch.ts'
const fleetPod = 'packages/fleet/src/fleet-pod.ts'
const release = 'packages/planner/src/release/plan-batch-release.ts'
const labels = 'packages/planner/src/release/plan-labels.ts'
const contest = 'packages/planner/src/release/strategy-contest.ts'
const lettingGo = 'packages/planner/src/release/letting-go.ts'
const releasePass = 'packages/controllers/src/release-pass.ts'

const passTests = ['packages/planner/test/pass/plan-pass.test.ts']
const passProperties = ['packages/planner/test/pass/plan-pass.property.test.ts']
const walk = ['packages/planner/test/fence.property.test.ts']
const countTests = ['packages/planner/test/counts.property.test.ts']
const gatherTests = ['packages/cluster/test/is-same-but-for-counts.test.ts']
const orderTests = ['packages/planner/test/pass/candidate-order.test.ts']
const carriedTests = ['packages/flight/test/carried.test.ts']
const leakedTests = ['packages/planner/test/release/leaked.test.ts']
const contestTests = ['packages/planner/test/release/strategy-contest.test.ts']
const lettingGoTests = ['packages/planner/test/release/letting-go.test.ts']
const recordTests = ['packages/flight/test/flight-record.test.ts']
const stateTests = ['packages/flight/test/permit-state.test.ts']
const allowanceTests = ['packages/flight/test/allowance.test.ts']
const touchTests = ['packages/flight/test/touch.test.ts']
const podTests = ['packages/fleet/test/fleet-pod.test.ts']
const releaseTests = ['packages/planner/test/release/plan-batch-release.test.ts']
const releasePassTests = ['packages/controllers/test/release-pass.test.ts']
const labelTests = ['packages/planner/test/release/release-status.test.ts']

/** The faults, by rule. */
export const mutants: readonly Mutant[] = [
  ...mutantsOfDecisions,
  ...mutantsOfPrograms,
  {
    rule: 'F1',
    fault: 'an executor acts on a DaemonSet that somebody has changed',
    file: plan,
    find: 'said.generation === record.generation &&',
    replace: '',
    tests: passTests,
  },
  {
    rule: 'F1',
    fault: 'an executor acts while the DaemonSet says paused',
    file: plan,
    find: '!said.paused &&',
    replace: '',
    tests: passProperties,
  },
  {
    rule: 'F2',
    fault: 'an executor acts on pods older than what the record rests on',
    file: plan,
    find: 'if (compareResourceVersions(view.podsSeen, record.watermark) < 0)',
    replace: 'if (view.podsSeen === "")',
    tests: [...passTests, ...walk],
  },
  {
    rule: 'F2',
    fault: 'the watermark does not grow',
    file: record,
    find: 'watermark: change.restsOn.reduce(newerResourceVersion, record.watermark)',
    replace: 'watermark: record.watermark',
    tests: recordTests,
  },
  {
    rule: 'F2',
    fault: 'a write does not rest on the pods that it permits',
    file: plan,
    find: '[...onNodes, ...append.map(({ pod }) => pod)]',
    replace: '[...onNodes]',
    tests: passProperties,
  },
  {
    rule: 'F3',
    fault: 'more pods are permitted than the batch lacks',
    file: plan,
    find: 'Math.min(scene.lack, limit + permitSlack(limit) - kept)',
    replace: 'limit + permitSlack(limit) - kept',
    tests: passProperties,
  },
  {
    rule: 'F3',
    fault: 'the record grows without bound',
    file: plan,
    find: 'Math.min(scene.lack, limit + permitSlack(limit) - kept)',
    replace: 'scene.lack',
    tests: passTests,
  },
  {
    rule: 'F3',
    fault: 'a mis-scheduled pod is taken',
    file: tally,
    find: 'if (!node.desired) continue',
    replace: '',
    tests: passProperties,
  },
  {
    rule: 'F4',
    fault: 'earlier permits take no place',
    file: plan,
    find: 'const hasPlace = sizeWithout(taken, node) < limit',
    replace: 'const hasPlace = true',
    tests: passProperties,
  },
  {
    rule: 'F4',
    fault: 'nodes in flight beyond a limit wait for each other for ever',
    file: plan,
    find: ' || (isFirst && lastGone === node)',
    replace: '',
    tests: walk,
  },
  {
    rule: 'F4',
    fault: 'a permit that is not the first to stand goes before it',
    file: plan,
    find: '(isFirst && lastGone === node)',
    replace: 'lastGone === node',
    tests: passTests,
  },
  {
    rule: 'F4',
    fault: 'a permit between two of one node forgets that the node is in flight',
    file: plan,
    find: "if (flown.state === 'standing' || flown.state === 'unseen') later.clear()",
    replace: '',
    tests: passTests,
  },
  {
    rule: 'F4',
    fault: 'any node may be deleted on while more are in flight than the limit',
    file: plan,
    find: '(isFirst && lastGone === node)',
    replace: 'isFirst',
    tests: walk,
  },
  {
    rule: 'F7',
    fault: 'permits of other nodes stand in the way of the last node in flight',
    file: plan,
    find: 'return standing.filter(({ permit }) => !names.has(permit.node))',
    replace: 'return []',
    tests: walk,
  },
  {
    rule: 'F4',
    fault: 'a Ready pod costs no budget',
    file: plan,
    find: 'const hasBudget = flown.pod?.ready === false || sizeWithout(down, node) < limit',
    replace: 'const hasBudget = true',
    tests: passProperties,
  },
  {
    rule: 'F4',
    fault: 'a Ready pod that is not yet available costs no budget',
    file: plan,
    find: 'flown.pod?.ready === false ||',
    replace: 'scene.tally.unavailable.includes(node) ||',
    tests: passTests,
  },
  {
    rule: 'F4',
    fault: 'a node stands in its own way',
    file: plan,
    find: 'return nodes.has(own) ? nodes.size - 1 : nodes.size',
    replace: 'return own === "" ? 0 : nodes.size',
    tests: passTests,
  },
  {
    rule: 'F5',
    fault: 'a permit whose pod lives on with a newer version is never buried',
    file: permitState,
    find: "age > 0 ? 'dead' : 'unseen'",
    replace: "'unseen'",
    tests: stateTests,
  },
  {
    rule: 'F6',
    fault: 'a node that is no longer desired frees its place before the record says so',
    file: plan,
    find: "return flown.state !== 'settled'",
    replace: "return flown.state !== 'settled' && flown.state !== 'left'",
    tests: passTests,
  },
  {
    rule: 'F6',
    fault: 'a permit settles by a pod that is not available',
    file: permitState,
    find: 'isAvailable(other, availability.minReadyMs, availability.monotonicMs)',
    replace: 'availability !== undefined && other.uid !== permit.podUid',
    tests: stateTests,
  },
  {
    rule: 'F6',
    fault: 'minReadySeconds goes on over a break that no watch has shown',
    file: fleetPod,
    find: 'previous.readyStamp === stamp && ',
    replace: '',
    tests: podTests,
  },
  {
    rule: 'F7',
    fault: 'a healthy head keeps a broken pod waiting for ever',
    file: plan,
    find: 'return scene.tally.broken.some(waits) ? [head] : []',
    replace: 'return []',
    tests: passTests,
  },
  {
    rule: 'F7',
    fault: 'a head is withdrawn and permitted again for ever',
    file: plan,
    find: 'if (hasBudgetLeft(scene)) return',
    replace: 'if (hasBudgetLeft(scene) || count > 0) return',
    tests: passProperties,
  },
  {
    rule: 'F7',
    fault: 'permits that exceed what the batch lacks stay',
    file: plan,
    find: 'scene.lack < 0 ? standing.slice(scene.lack) : []',
    replace: '[]',
    tests: passTests,
  },
  {
    rule: 'F8',
    fault: 'an append on its way survives a stop',
    file: record,
    find: "epoch: record.epoch + 1, seq: record.seq + 1, state: 'voiding'",
    replace: "epoch: record.epoch, seq: record.seq + 1, state: 'voiding'",
    tests: recordTests,
  },
  {
    rule: 'F8',
    fault: 'a record stops though a touch got no clear answer',
    file: touch,
    find: 'const complete = clear === touched.length && touched.length === record.permits.length',
    replace: 'const complete = clear <= touched.length',
    tests: touchTests,
  },
  {
    rule: 'F8',
    fault: 'an executor goes on while the record is not open',
    file: plan,
    find: "if (record.state !== 'open') return settleOnly(scene)",
    replace: '',
    tests: passTests,
  },
  {
    rule: 'F8',
    fault: 'a stop is written before it is announced',
    file: release,
    find: "if (announced !== null) return { kind: 'patchDaemonSet', why: 'pause'",
    replace: "if (announced !== null && record.epoch < 0) return { kind: 'patchDaemonSet', why: 'pause'",
    tests: releaseTests,
  },
  {
    rule: 'F11',
    fault: 'control is given back while the record is open',
    file: release,
    find: "if (record.state === 'open') {\n    return",
    replace: 'if (record.epoch < 0) {\n    return',
    tests: releaseTests,
  },
  {
    rule: 'F9',
    fault: 'a record is opened without reading the wishes live',
    file: release,
    find: "why: 'open', record: openRecord(record, wanted.allowance), confirm: true",
    replace: "why: 'open', record: openRecord(record, wanted.allowance), confirm: false",
    tests: releaseTests,
  },
  {
    rule: 'F9',
    fault: 'a record is opened on what the watches show',
    file: releasePass,
    find: 'return plan.confirm ? confirmAndWrite',
    replace: 'return plan.confirm && plan.record.epoch < 0 ? confirmAndWrite',
    tests: releasePassTests,
  },
  {
    rule: 'F9',
    fault: 'a write on its way survives a widening',
    file: record,
    find: 'return { ...record, ...scopeOf(allowance), seq: record.seq + 1 }',
    replace: 'return { ...record, ...scopeOf(allowance) }',
    tests: recordTests,
  },
  {
    rule: 'F10',
    fault: 'a lower limit leaves permits beyond it',
    file: allowance,
    find: "return 'lowersLimit'",
    replace: "return 'widens'",
    tests: allowanceTests,
  },
  {
    rule: 'F10',
    fault: 'the limit falls under permits that were judged by a larger one',
    file: release,
    find: "kind: 'touchPermits', permits: record.permits, lowerTo }",
    replace: "kind: 'touchPermits', permits: [], lowerTo }",
    tests: releaseTests,
  },
  {
    rule: 'F10',
    fault: 'a larger partition is written without a stop',
    file: allowance,
    find: ' || to.partition > from.partition',
    replace: '',
    tests: allowanceTests,
  },
  {
    rule: 'F11',
    fault: 'the finalizer of a release goes while its record is open',
    file: 'packages/planner/src/release/plan-batch-release.ts',
    find: "const calm = record === undefined || record.state === 'stopped'",
    replace: 'const calm = record === undefined || record !== undefined',
    tests: releaseTests,
  },
  {
    rule: 'F11',
    fault: 'a rollover forgets pods that are still on their way',
    file: record,
    find: "state: 'open', holds: [] }",
    replace: "state: 'open', holds: [], permits: [] }",
    tests: recordTests,
  },
  {
    rule: 'G3',
    fault: 'a pod of ours is said to have leaked',
    file: labels,
    find: '!pod.ready && !nodes.has(pod.node) &&',
    replace: '!pod.ready &&',
    tests: leakedTests,
  },
  {
    rule: 'G3',
    fault: 'a pod is marked as leaked though it has changed since',
    file: labels,
    find: 'resourceVersion: hasLeaked ? resourceVersion : null',
    replace: 'resourceVersion: null',
    tests: leakedTests,
  },
  {
    rule: 'G11',
    fault: 'a strategy that is set back is answered before the round is stored',
    file: contest,
    find: 'if (!isSaid) {',
    replace: 'if (!isSaid && generation < 0) {',
    tests: contestTests,
  },
  {
    rule: 'G11',
    fault: 'the strategy is fought over without end',
    file: contest,
    find: 'const FIGHTS_UNTIL_WE_GIVE_IN = 2',
    replace: 'const FIGHTS_UNTIL_WE_GIVE_IN = 1_000_000',
    tests: contestTests,
  },
  {
    rule: 'G11',
    fault: 'a retry does not lift what a contest has stopped',
    file: contest,
    find: 'contested.retry === retry ?',
    replace: "contested.retry !== '' ?",
    tests: contestTests,
  },
  {
    rule: 'G11',
    fault: 'a DaemonSet in mid-surge is made OnDelete',
    file: contest,
    find: 'desired && pods.filter(({ terminating }) => !terminating).length > 1',
    replace: 'desired && pods.length > 1_000',
    tests: contestTests,
  },
  {
    rule: 'F11',
    fault: 'a new record forgets what the last release left in flight',
    file: carried,
    find: 'permits: [...missing, ...record.permits]',
    replace: 'permits: [...record.permits]',
    tests: walk,
  },
  {
    rule: 'F2',
    fault: 'a new record may rest on pods older than what it inherits',
    file: carried,
    find: 'watermark: newerResourceVersion(record.watermark, carried.watermark)',
    replace: 'watermark: record.watermark',
    tests: carriedTests,
  },
  {
    rule: 'F11',
    fault: 'what is in flight is written down without bound',
    file: carried,
    find: 'text.length > MAX_CARRIED_LENGTH ? null : text',
    replace: 'text',
    tests: carriedTests,
  },
  {
    rule: 'F11',
    fault: 'a release that lets go tells nobody what is in flight',
    file: lettingGo,
    find: '[daemonSetAnnotations.unsettled]: unsettled }',
    replace: '[daemonSetAnnotations.unsettled]: null }',
    tests: lettingGoTests,
  },
  {
    rule: 'F11',
    fault: 'a release takes control without what the last one left in flight',
    file: release,
    find: 'if (inherited !== null) return',
    replace: 'if (inherited?.epoch === 0) return',
    tests: lettingGoTests,
  },
  {
    rule: 'F11',
    fault: 'a record of a DaemonSet that was made anew is opened untouched',
    file: release,
    find: 'return record.workloadUid === wanted.allowance.workloadUid ? open :',
    replace: 'return record.epoch > 0 ? open :',
    tests: releaseTests,
  },
  {
    rule: 'F11',
    fault: 'control changes hands from a vanished release without a touch',
    file: release,
    find: "return view.otherControl === 'vanished' ?",
    replace: "return view.otherControl === 'exists' ?",
    tests: releaseTests,
  },
  {
    rule: 'F12',
    fault: 'a pod that never goes costs no slot',
    file: permitState,
    find: "if (pod.terminating) return 'flying'",
    replace: "if (pod.terminating) return 'settled'",
    tests: passTests,
  },
  {
    rule: 'F13',
    fault: 'a label kills a permit',
    file: labels,
    find: '!permitted.has(uid) &&',
    replace: '',
    tests: labelTests,
  },
  {
    rule: 'G3',
    fault: 'nodes counted for another revision are believed',
    file: countQuestion,
    find: 'known.revision === asked.revision &&',
    replace: '',
    tests: countTests,
  },
  {
    rule: 'G4',
    fault: 'a record is written over one that was changed in between',
    file: record,
    find: "{ op: 'test', path: '/status/flight/seq', value: before.seq },",
    replace: '',
    tests: recordTests,
  },
  {
    rule: 'G5',
    fault: 'healthy pods go before failed ones',
    file: order,
    find: 'healthRank(a.pod) - healthRank(b.pod) ||',
    replace: 'healthRank(b.pod) - healthRank(a.pod) ||',
    tests: orderTests,
  },
  {
    rule: 'G5',
    fault: 'superseded revisions do not go first',
    file: order,
    find: 'supersededRank(a.pod, revisions) - supersededRank(b.pod, revisions) ||',
    replace: '',
    tests: orderTests,
  },
  {
    rule: 'G6',
    fault: 'a node that is NotReady holds a place',
    file: order,
    find: 'node.ready ? candidateOn(node, revisions) : undefined',
    replace: 'candidateOn(node, revisions)',
    tests: passProperties,
  },
  {
    rule: 'G6',
    fault: 'a pod that time has made available is counted as it was',
    file: countQuestion,
    find: '(changesAtMs === null || asked.monotonicMs < changesAtMs)',
    replace: 'true',
    tests: countTests,
  },
  {
    rule: 'G9',
    fault: 'a stop waits until pods have been gathered',
    file: counts,
    find: 'JSON.stringify([previous.metadata.annotations, previous.metadata.labels])',
    replace: 'JSON.stringify([current.metadata.annotations, current.metadata.labels])',
    tests: gatherTests,
  },
  ...validationMutants,
  ...wishMutants,
]
