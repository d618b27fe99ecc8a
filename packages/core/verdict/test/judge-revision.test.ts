import type { Permit } from '@tranche/api-schema'
import { verdictText } from '@tranche/verdict'
import { describe, expect, it } from 'vitest'
import { at, type CaseSays, failedIn, fleetOf, judge, running, waiting } from './verdict-notation.ts'

const unreachable = 'node.kubernetes.io/unreachable'
const taken: Permit = { node: 'a', podUid: 'before', podResourceVersion: '4' }
/** The kubelet fell silent before the pod was created. */
const lost = { isNodeReady: false, answers: false, notReadySince: at(0) } as const
const takenBad: Permit = { ...taken, wasBad: true }

/** `a` in a case, beside a node that is well. */
function a(says: CaseSays['nodes'][string], rest: Omit<CaseSays, 'nodes'> = {}): CaseSays {
  return { nodes: { a: says, b: {} }, ...rest }
}

describe('a node on which the new version failed', () => {
  const cases: Record<string, { readonly says: CaseSays; readonly want: readonly string[] }> = {
    'is not one that is healthy': { says: a({}), want: [] },
    'is not one whose containers are being created': { says: a(waiting('ContainerCreating')), want: [] },
    'is not one that waits for its init containers': { says: a(waiting('PodInitializing')), want: [] },
    'is one that waits for any other reason, immediately': { says: a(waiting('ImagePullBackOff')), want: ['a: ImagePullBackOff'] },
    'is one with an unknown waiting reason': { says: a(waiting('SomethingNewBackOff')), want: ['a: SomethingNewBackOff'] },
    'is not one when the policy ignores the reason': {
      says: a(waiting('ErrImagePull'), { rules: { ignoreReasons: ['ErrImagePull'] } }),
      want: [],
    },
    'is one by the deadline when the policy ignores the reason': {
      says: a(waiting('ErrImagePull'), { rules: { ignoreReasons: ['ErrImagePull'] }, at: 601 }),
      want: ['a: ProgressDeadlineExceeded'],
    },
    'is one whose init container crashes': {
      says: a({ ready: false, initContainers: [{ name: 'init', restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff' } } }] }),
      want: ['a: CrashLoopBackOff'],
    },
    'is one whose pod has failed': { says: a({ phase: 'Failed', ready: false }), want: ['a: Failed'] },
    'is not one that was restarted as often as is tolerated': { says: a(running(2)), want: [] },
    'is one that was restarted more often, though it runs': { says: a(running(3)), want: ['a: TooManyRestarts'] },
    'is one whose pods together were restarted more often': {
      says: a(running(1), { watched: [{ node: 'a', since: at(2), uid: 'before', restarts: 1, seen: 1 }] }),
      want: ['a: TooManyRestarts'],
    },
    'is one that was out of memory once, though it runs again': { says: a(running(1, 'OOMKilled')), want: ['a: OOMKilled'] },
    'is one that became NotReady after its kubelet acknowledged the pod': { says: a({ isNodeReady: false }), want: ['a: NodeNotReady'] },
    'is one that became NotReady then, though a taint for that keeps the DaemonSet off it': {
      says: a({ isNodeReady: false, ready: false, taint: unreachable }),
      want: ['a: NodeNotReady'],
    },
    'is not one without a pod that a taint for its failure keeps the DaemonSet off': {
      says: a(
        { pod: 'none', isNodeReady: false, taint: unreachable },
        { permits: [taken], watched: [{ node: 'a', since: at(1), downSince: at(1) }], at: 601 },
      ),
      want: [],
    },
    'is not one with an old pod that a taint for its failure keeps the DaemonSet off': {
      says: a({ pod: 'old', isNodeReady: false, ready: false, taint: unreachable }, { at: 601 }),
      want: [],
    },
    'is not one that was lost then, if the policy ignores that': {
      says: a({ isNodeReady: false, ready: false, taint: unreachable }, { rules: { ignoreReasons: ['NodeNotReady'] }, at: 600 }),
      want: [],
    },
    'is not one that was lost then, but was unhealthy before its update': {
      says: a({ isNodeReady: false, ready: false, taint: unreachable }, { permits: [takenBad] }),
      want: [],
    },
    'is not one from which a user has taken the DaemonSet by a taint': {
      says: a({ isNodeReady: false, ready: false, taint: 'dedicated' }, { at: 601 }),
      want: [],
    },
    'is not one that became NotReady then, if the policy ignores that, until the deadline': {
      says: a({ isNodeReady: false, ready: false }, { rules: { ignoreReasons: ['NodeNotReady'] }, at: 600 }),
      want: [],
    },
    'is one that became NotReady then, though the policy ignores that, once the deadline passes': {
      says: a({ isNodeReady: false, ready: false }, { rules: { ignoreReasons: ['NodeNotReady'] }, at: 601 }),
      want: ['a: ProgressDeadlineExceeded'],
    },
    'is one that became NotReady in the second in which its kubelet acknowledged the pod': {
      says: a({ isNodeReady: false, notReadySince: at(1) }),
      want: ['a: NodeNotReady'],
    },
    'is not one that was NotReady when its kubelet acknowledged the pod, and has not reported since': {
      says: a({ isNodeReady: false, notReadySince: at(0) }),
      want: [],
    },
    'is not one whose kubelet had fallen silent before its pod was created, and is back': {
      says: a({ isNodeReady: false, answers: false, ready: false, notReadySince: at(0), createdAt: at(60) }, { at: 70 }),
      want: [],
    },
    'is one whose kubelet fell silent after that': {
      says: a({ isNodeReady: false, answers: false, notReadySince: at(60) }, { at: 70 }),
      want: ['a: NodeNotReady'],
    },
    'is not one that became NotReady before': { says: a({ isNodeReady: false, ready: false, acknowledged: false }), want: [] },
    'is not one whose kubelet had fallen silent before its pod was created, and never sees it, past the deadline': {
      says: a({ ...lost, ready: false, acknowledged: false }, { at: 9_000 }),
      want: [],
    },
    'is not one whose pod is then being deleted': {
      says: a({ ...lost, ready: false, acknowledged: false, terminating: true }, { at: 9_000 }),
      want: [],
    },
    'is one that is NotReady past the deadline, though its kubelet responds and never sees the pod': {
      says: a({ isNodeReady: false, ready: false, acknowledged: false }, { at: 9_000 }),
      want: ['a: ProgressDeadlineExceeded'],
    },
    'is one that turned NotReady while its pod was unschedulable': {
      says: a({ isNodeReady: false, ready: false, isUnschedulable: true }, { at: 9_000 }),
      want: ['a: Unschedulable'],
    },
    'is one whose kubelet fell silent after its pod was created, and never sees it': {
      says: a({ ...lost, notReadySince: at(30), ready: false, acknowledged: false }, { at: 9_000 }),
      want: ['a: ProgressDeadlineExceeded'],
    },
    'is not one whose pod is unschedulable there': {
      says: a({ ...lost, ready: false, isUnschedulable: true }, { at: 9_000 }),
      want: [],
    },
    'is not one whose pod is unschedulable there, though it had no available pod before': {
      says: a(
        { ...lost, ready: false, isUnschedulable: true },
        { at: 9_000, watched: [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSeconds: 100 }] },
      ),
      want: [],
    },
    'is one that had no available pod for that long before it went away': {
      says: a(
        { ...lost, ready: false, acknowledged: false },
        { at: 9_000, watched: [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSeconds: 600 }] },
      ),
      want: ['a: ProgressDeadlineExceeded'],
    },
    'is one that is Ready, and whose kubelet never sees the pod, past the deadline': {
      says: a({ ready: false, acknowledged: false }, { at: 601 }),
      want: ['a: ProgressDeadlineExceeded'],
    },
    'is not one that has had no available pod until just before the deadline': { says: a({ ready: false }, { at: 600 }), want: [] },
    'is one that has had none when it passes': { says: a({ ready: false }, { at: 601 }), want: ['a: ProgressDeadlineExceeded'] },
    'is not one that is Ready and waits only for a long minReadySeconds': {
      says: a({}, { at: 900, minReadyMs: 1_800_000 }),
      want: [],
    },
    'is one that has had none for that long in total': {
      says: a(
        { ready: false, readyStamp: at(5000) },
        { at: 5100, watched: [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSeconds: 500 }] },
      ),
      want: ['a: ProgressDeadlineExceeded'],
    },
    'is not one as long as the scheduler may still place its pod': {
      says: a({ phase: 'Pending', ready: false, unscheduled: true }, { at: 59 }),
      want: [],
    },
    'is not one with an old pod in any state': { says: a({ ...waiting('CrashLoopBackOff'), pod: 'old' }), want: [] },
    'is not one whose pod was unhealthy before the release': {
      says: a(waiting('CrashLoopBackOff'), { stopped: { olderPods: ['uid-pod-a'] } }),
      want: [],
    },
    'is one whose pod was created since': {
      says: a(waiting('CrashLoopBackOff'), { stopped: { olderPods: ['uid-pod-of-before'] } }),
      want: ['a: CrashLoopBackOff'],
    },
    'is not one yet when the clock of the API server is hours behind, and its pod only starts': {
      says: a({ ready: false, createdAt: at(-7_200) }),
      want: [],
    },
    'is one when it has been watched for that long anyway': {
      says: a(
        { ready: false, createdAt: at(-7_200) },
        { at: 620, watched: [{ node: 'a', since: at(10), uid: 'uid-pod-a', downSince: at(10) }] },
      ),
      want: ['a: ProgressDeadlineExceeded'],
    },
    'is one also when the clock of the API server is hours behind': {
      says: a({ ...waiting('CrashLoopBackOff'), createdAt: at(-7_200) }),
      want: ['a: CrashLoopBackOff'],
    },
    'is not one that was unhealthy before its update': { says: a(waiting('CrashLoopBackOff'), { permits: [takenBad] }), want: [] },
    'is one that was healthy before its update': {
      says: a(waiting('CrashLoopBackOff'), { permits: [taken] }),
      want: ['a: CrashLoopBackOff'],
    },
    'is one that was healthy before its last update, whatever it was before an earlier one': {
      says: a(waiting('CrashLoopBackOff'), { permits: [takenBad, { ...taken, podUid: 'between' }] }),
      want: ['a: CrashLoopBackOff'],
    },
    'is one that was unhealthy before its update, and healthy in between': {
      says: a(running(3), { permits: [takenBad] }),
      want: ['a: TooManyRestarts'],
    },
    'is not one for restarts from before it was healthy': {
      says: a(running(5), { watched: [{ node: 'a', since: at(1), uid: 'uid-pod-a', seen: 5, ignoredRestarts: 5 }] }),
      want: [],
    },
    'is not one whose failure a retry accepted': {
      says: a(waiting('CrashLoopBackOff'), {
        status: { failure: { reason: 'Accepted', message: '', nodes: [], release: 'r1', accepted: ['a'] } },
      }),
      want: [],
    },
    'is one without any pod for longer than the deadline of the scheduler': {
      says: a({ pod: 'none' }, { at: 70, permits: [taken], watched: [{ node: 'a', since: at(9), downSince: at(9) }] }),
      want: ['a: FailedCreate'],
    },
    'is not one without a pod, if the release deleted none there': {
      says: a({ pod: 'none' }, { at: 70, watched: [{ node: 'a', since: at(9), downSince: at(9) }] }),
      want: [],
    },
    'is not one without a pod for a moment': {
      says: a({ pod: 'none' }, { at: 68, permits: [taken], watched: [{ node: 'a', since: at(9), downSince: at(9) }] }),
      want: [],
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { says, want }) => {
    expect(failedIn(judge(says))).toEqual(want)
  })

  it('is one whose pod fits on no node', () => {
    const conditions = { phase: 'Pending', ready: false, unscheduled: true } as const
    const says = a(conditions, { at: 61 })
    expect(failedIn(judge(says))).toEqual([])
    const pending = judge({ ...says, nodes: { a: { ...conditions, isUnschedulable: true }, b: {} } })
    expect(failedIn(pending)).toEqual(['a: Unschedulable'])
  })
})

describe('the clock of the deadlines', () => {
  it('stops while the release is stopped', () => {
    const watched = [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSince: at(1) }]
    const stopped = { since: at(101) }
    expect(failedIn(judge(a({ ready: false }, { at: 9_000, watched, stopped })))).toEqual([])
    const resumed = { seconds: 1_000 }
    expect(failedIn(judge(a({ ready: false }, { at: 1_600, watched, stopped: resumed })))).toEqual([])
    expect(failedIn(judge(a({ ready: false }, { at: 1_601, watched, stopped: resumed })))).toEqual(['a: ProgressDeadlineExceeded'])
  })

  it('does not count what was stopped before the node was down', () => {
    const watched = [{ node: 'a', since: at(2_000), uid: 'uid-pod-a', downSince: at(2_000), stoppedSeconds: 1_000 }]
    expect(failedIn(judge(a({ ready: false }, { at: 2_600, watched, stopped: { seconds: 1_000 } })))).toEqual([
      'a: ProgressDeadlineExceeded',
    ])
  })

  it('says when the next deadline passes', () => {
    expect(judge(a({ ready: false }, { at: 10 })).nextChangeMs).toBe(601_000)
    expect(judge(a({ ready: false }, { at: 10, stopped: { since: at(5) } })).nextChangeMs).toBeNull()
    expect(judge(a({}, { at: 10 })).nextChangeMs).toBeNull()
  })
})

describe('how many failed nodes are tolerated', () => {
  const lost = { isNodeReady: false, ready: false, taint: unreachable }
  const two = { a: waiting('CrashLoopBackOff'), b: waiting('CrashLoopBackOff'), c: {}, d: {} }
  const cases: Record<string, { readonly says: CaseSays; readonly want: { readonly limit: number; readonly isBad: boolean } }> = {
    'none by default': { says: { nodes: { a: waiting('CrashLoopBackOff') } }, want: { limit: 0, isBad: true } },
    'as many as failureThreshold states': { says: { nodes: two, plan: { failureThreshold: '50%' } }, want: { limit: 2, isBad: false } },
    'as many as the policy states, regardless of failureThreshold': {
      says: { nodes: two, plan: { failureThreshold: 4 }, rules: { maxFailedNodes: 1 } },
      want: { limit: 1, isBad: true },
    },
    'percent of the desired nodes, rounded up': {
      says: { nodes: two, rules: { maxFailedNodes: '26%' } },
      want: { limit: 2, isBad: false },
    },
    'percent of them and of those that were lost after their update, though the DaemonSet is not desired there': {
      says: { nodes: { ...two, c: lost, d: lost }, rules: { maxFailedNodes: '51%' } },
      want: { limit: 3, isBad: true },
    },
    'percent without those that ran the version before the release, as after an undo': {
      says: {
        nodes: { ...two, c: { ...lost, createdAt: at(-60) }, d: { ...lost, createdAt: at(-1) } },
        stopped: { olderPods: ['uid-pod-c', 'uid-pod-d'] },
        rules: { maxFailedNodes: '51%' },
      },
      want: { limit: 2, isBad: false },
    },
    'as many in one batch with them': {
      says: {
        nodes: { a: lost, b: lost, c: {}, d: {} },
        rules: { maxFailedNodes: 4, maxFailedNodesPerBatch: '50%' },
        plan: { batchPartition: 0, batches: [{ canaryReplicas: '100%' }] },
      },
      want: { limit: 4, isBad: false },
    },
    'no more in one batch than its own limit': {
      says: {
        nodes: two,
        rules: { maxFailedNodes: 4, maxFailedNodesPerBatch: '50%' },
        plan: { batchPartition: 0, batches: [{ canaryReplicas: 2 }, { canaryReplicas: 4 }] },
      },
      want: { limit: 4, isBad: true },
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { says, want }) => {
    expect(judge(says).verdict).toMatchObject(want)
  })

  it('percent of other nodes in another release, or for another version', () => {
    const nodes = { a: {}, b: lost }
    const fleet = fleetOf(nodes)
    const desired = (says: Partial<CaseSays>): number => judge({ nodes, fleet, ...says }).verdict.desired
    const next = { tranche: { canaryRevision: 'next' } }
    expect([desired({}), desired(next), desired({}), desired({ begunAt: at(2) }), desired({ begunAt: at(1) })]).toEqual([2, 1, 2, 1, 2])
  })
})

describe('the text of a verdict', () => {
  it('names the nodes, the reasons, the container, its exit code and last message', () => {
    const { verdict } = judge({ nodes: { a: running(3), b: waiting('ImagePullBackOff'), c: {} } })
    expect(verdictText(verdict)).toBe(
      '2 of 3 nodes failed (tolerated: 0): a: TooManyRestarts (container agent, exit code 1, after 3 restarts): panic: boom; b: ImagePullBackOff (container agent)',
    )
  })

  it('counts nodes that were lost after their update among the nodes, though none is desired', () => {
    const lost = { isNodeReady: false, ready: false, taint: unreachable }
    expect(verdictText(judge({ nodes: { a: lost, b: lost } }).verdict)).toMatch(/^2 of 2 nodes failed/)
  })

  it('names a shared failure of several nodes once', () => {
    const { verdict } = judge({ nodes: { a: waiting('ErrImagePull'), b: waiting('CrashLoopBackOff'), c: waiting('ErrImagePull') } })
    expect(verdictText(verdict)).toBe(
      '3 of 3 nodes failed (tolerated: 0): a, c: ErrImagePull (container agent); b: CrashLoopBackOff (container agent)',
    )
  })

  it('names three nodes and counts the others', () => {
    const nodes = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, { isNodeReady: false }]))
    expect(verdictText(judge({ nodes }).verdict)).toMatch(/^5 of 5 nodes failed \(tolerated: 0\): a, b, c: NodeNotReady: .*; 2 more$/)
  })
})
