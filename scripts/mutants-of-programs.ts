import type { Mutant } from './mutant-list.ts'

const releasePass = 'packages/controllers/src/release-pass.ts'
const rolloutPass = 'packages/controllers/src/rollout-pass.ts'
const releasePort = 'apps/controller/src/release-port.ts'
const rolloutPort = 'apps/controller/src/rollout-port.ts'
const executorPort = 'apps/executor/src/executor-port.ts'
const executorPass = 'packages/partition-executor/src/executor-pass.ts'
const sent = 'packages/partition-executor/src/sent-deletes.ts'
const touchPod = 'packages/cluster/src/touch-pod.ts'
const writeRecord = 'packages/cluster/src/write-record.ts'
const newest = 'packages/cluster/src/newest.ts'
const admission = 'packages/admission/src/admit-daemon-set.ts'

const releasePassTests = ['packages/controllers/test/release-pass.test.ts']
const rolloutPassTests = ['packages/controllers/test/rollout-pass.test.ts']
const executorPassTests = ['packages/partition-executor/test/executor-pass.test.ts']
const clusterTests = ['packages/cluster/test/cluster.test.ts']
const admissionTests = ['packages/admission/test/admit-daemon-set.test.ts']
const twoExecutors = ['test/scenarios/two-executors.test.ts']
const leaders = ['test/scenarios/twice-never-half.test.ts']
const heldScenario = ['test/scenarios/held-revision.test.ts']
const approvals = ['test/scenarios/approval.test.ts']

/** Faults in what reads and writes: reconcilers, executor, their ports, what they share, and admission. */
export const mutantsOfPrograms: readonly Mutant[] = [
  {
    rule: 'F2',
    fault: 'the first record rests on no pod',
    file: releasePass,
    find: ".reduce(newerResourceVersion, '0')",
    replace: ".slice(0, 0).reduce(newerResourceVersion, '0')",
    tests: releasePassTests,
  },
  {
    rule: 'F8',
    fault: 'a pod that is in no live list counts as standing',
    file: releasePass,
    find: "pod === undefined ? { kind: 'executed' }",
    replace: "pod === undefined ? { kind: 'standing', resourceVersion: '0' }",
    tests: releasePassTests,
  },
  {
    rule: 'F8',
    fault: 'touches that said neither way are forgotten',
    file: releasePass,
    find: "const unclear = touched.find(({ answer }) => answer.kind === 'unclear')",
    replace: 'const unclear = touched.find(() => false)',
    tests: releasePassTests,
  },
  {
    rule: 'F9',
    fault: 'a record is opened though the live Rollout asks for a stop',
    file: releasePass,
    find: 'if (live.stopAsked) return recheckAfter(UNCLEAR_RECHECK_MS)',
    replace: '',
    tests: releasePassTests,
  },
  {
    rule: 'F9',
    fault: 'a record that has moved on is opened all the same',
    file: releasePass,
    find: "write.kind !== 'writeRecord' || !isSameRecord(write.record, plan.record)",
    replace: "write.kind !== 'writeRecord'",
    tests: releasePassTests,
  },
  {
    rule: 'F10',
    fault: 'the limit is lowered though a touch said neither way',
    file: releasePass,
    find: 'unclear === null && lowerTo !== null ?',
    replace: 'lowerTo !== null ?',
    tests: releasePassTests,
  },
  {
    rule: 'F11',
    fault: 'control changes hands though an old pod has not answered',
    file: releasePass,
    find: "if (answers.some(({ kind }) => kind === 'unclear')) return recheckAfter(UNCLEAR_RECHECK_MS)",
    replace: '',
    tests: releasePassTests,
  },
  {
    rule: 'F13',
    fault: 'a pod is labelled again and again',
    file: releasePass,
    find: "memory.labelled.set(pod.uid, { node: pod.node, rolloutId: pod.labels[ROLLOUT_ID_LABEL] ?? '' })",
    replace: '',
    tests: releasePassTests,
  },
  {
    rule: 'G9',
    fault: 'a DaemonSet is let go on what the watches show',
    file: rolloutPass,
    find: "if (plan.kind === 'patchDaemonSet') return plan.why === 'unbind'",
    replace: "if (plan.kind === 'patchDaemonSet') return false",
    tests: rolloutPassTests,
  },
  {
    rule: 'G10',
    fault: 'a status is written whatever somebody wrote meanwhile',
    file: rolloutPort,
    find: '{ ...rollout, status }',
    replace: "{ ...rollout, metadata: { ...rollout.metadata, resourceVersion: '' }, status }",
    tests: approvals,
  },
  {
    rule: 'G8',
    fault: 'two leaders overwrite each other’s orders',
    file: rolloutPort,
    find: "        { op: 'test', path: '/metadata/generation', value: release.metadata.generation },\n        { op: 'replace', path: '/spec', value: spec },",
    replace: "        { op: 'replace', path: '/spec', value: spec },",
    tests: leaders,
  },
  {
    rule: 'F9',
    fault: 'nobody reads live whether a stop is asked for',
    file: releasePort,
    find: ' || isStopAsked(rollout, release)',
    replace: '',
    tests: heldScenario,
  },
  {
    rule: 'F5',
    fault: 'a refused delete is taken for an error, and sent again and again',
    file: executorPort,
    find: 'if (isConflict(error) || isNotFound(error)) return false',
    replace: '',
    tests: twoExecutors,
  },
  {
    rule: 'G4',
    fault: 'a delete does not say which version of the pod it is for',
    file: executorPort,
    find: '{ uid: permit.podUid, resourceVersion: permit.podResourceVersion }',
    replace: '{ uid: permit.podUid }',
    tests: twoExecutors,
  },
  {
    rule: 'F5',
    fault: 'a delete is sent again while nobody knows what became of it',
    file: executorPass,
    find: 'sent.add(pod.permit)',
    replace: '',
    tests: executorPassTests,
  },
  {
    rule: 'G6',
    fault: 'a delete that got no answer is never sent again',
    file: executorPass,
    find: 'sent.unknown(pod.permit)',
    replace: '',
    tests: executorPassTests,
  },
  {
    rule: 'F7',
    fault: 'a permit is withdrawn though its pod was deleted',
    file: executorPass,
    find: 'answer: await cluster.touchPod(pod, signal) })',
    replace: "answer: { ...(await cluster.touchPod(pod, signal)), kind: 'standing', resourceVersion: '1' } })",
    tests: executorPassTests,
  },
  {
    rule: 'G6',
    fault: 'what was sent is remembered for ever',
    file: sent,
    find: 'if (!standsAsPermitted(permit, fleet)) sent.delete(id)',
    replace: 'if (fleet === null) sent.delete(id)',
    tests: executorPassTests,
  },
  {
    rule: 'F7',
    fault: 'a touch hits another pod of the same name',
    file: touchPod,
    find: 'metadata: { uid: pod.uid, annotations',
    replace: 'metadata: { annotations',
    tests: clusterTests,
  },
  {
    rule: 'F7',
    fault: 'a touched pod that is going counts as standing',
    file: touchPod,
    find: "if (answer.metadata.deletionTimestamp !== undefined) return { kind: 'executed' }",
    replace: '',
    tests: clusterTests,
  },
  {
    rule: 'F7',
    fault: 'a touch without an answer counts as executed',
    file: touchPod,
    find: "if (isNotFound(error) || isUidMismatch(error)) return { kind: 'executed' }",
    replace: "return { kind: 'executed' }",
    tests: clusterTests,
  },
  {
    rule: 'F7',
    fault: 'a second touch changes nothing',
    file: touchPod,
    find: '++count',
    replace: 'count',
    tests: clusterTests,
  },
  {
    rule: 'F8',
    fault: 'a record that lost its race is taken for written',
    file: writeRecord,
    find: 'if (isInvalid(error) || isNotFound(error)) return null',
    replace: 'if (isInvalid(error) || isNotFound(error)) return release',
    tests: clusterTests,
  },
  {
    rule: 'G7',
    fault: 'a record that the cluster does not keep is taken for written',
    file: writeRecord,
    find: 'if (written.status?.flight !== undefined) return written',
    replace: 'return written',
    tests: clusterTests,
  },
  { rule: 'G7', fault: 'an old answer hides what the watch shows', file: newest, find: '> 0)', replace: '> -2)', tests: clusterTests },
  {
    rule: 'G11',
    fault: 'admission lets RollingUpdate back in mid-release',
    file: admission,
    find: '...(begins || isHeld(oldObject) ? strategyPatch(newObject) : []),',
    replace: '...(begins ? strategyPatch(newObject) : []),',
    tests: admissionTests,
  },
  {
    rule: 'G11',
    fault: 'a manifest takes our keys away',
    file: admission,
    find: 'const annotations = { ...ourAnnotations(oldObject), ...',
    replace: 'const annotations = { ...',
    tests: admissionTests,
  },
  {
    rule: 'G11',
    fault: 'admission overwrites the type that is remembered',
    file: admission,
    find: 'rememberedType(oldObject) ?? typeToRestore(newObject)',
    replace: 'typeToRestore(newObject)',
    tests: admissionTests,
  },
]
