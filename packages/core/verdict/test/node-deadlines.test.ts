import type { Permit } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { at, type CaseSays, deadlinesIn, failedIn, judge, waiting, watch } from './verdict-notation.ts'

const taken: Permit = { node: 'a', podUid: 'before', podResourceVersion: '4' }

/** `a` in a case, beside a node that is well. */
function a(says: CaseSays['nodes'][string], rest: Omit<CaseSays, 'nodes'> = {}): CaseSays {
  return { nodes: { a: says, b: {} }, ...rest }
}

describe('the deadline of a node', () => {
  const running: Record<string, { readonly says: CaseSays; readonly seconds: number }> = {
    'of a pod that starts is progressDeadlineSeconds after it was created': { says: a(waiting('ContainerCreating')), seconds: 601 },
    'is the same in a later pass': { says: a(waiting('ContainerCreating'), { at: 500 }), seconds: 601 },
    'is that of the policy': { says: a({ ready: false }, { rules: { progressDeadlineSeconds: 90 } }), seconds: 91 },
    'of an unscheduled pod is schedulingDeadlineSeconds after it was created': {
      says: a({ ready: false, isUnschedulable: true }),
      seconds: 61,
    },
    'of an unscheduled pod is the same after the clock was set back, when its creation lies ahead': {
      says: a(
        { ready: false, isUnschedulable: true, createdAt: at(300) },
        { watched: [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSince: at(1) }] },
      ),
      seconds: 61,
    },
    'counts the time for which it was down before': {
      says: a({ ready: false }, { watched: [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSeconds: 500, downSince: at(5) }] }),
      seconds: 105,
    },
    'is later by the time for which the release was stopped': {
      says: a({ ready: false }, { stopped: { seconds: 40 }, at: 60 }),
      seconds: 641,
    },
    'of a node that the release left runs after its end': {
      says: a({ ready: false }, { tranche: { left: { nodes: ['a'] } }, stopped: { release: 'r1/left' } }),
      seconds: 601,
    },
    'runs in a hand-written BatchRelease, which names no revisions': {
      says: a(waiting('ContainerCreating'), { tranche: { canaryRevision: undefined, stableRevision: undefined } }),
      seconds: 601,
    },
    'runs for a node without a pod since its pod was deleted': {
      says: a({ pod: 'none' }, { permits: [taken], watched: [{ node: 'a', since: at(4), downSince: at(4) }] }),
      seconds: 64,
    },
  }

  it.each(Object.entries(running))('%s', (_name, { says, seconds }) => {
    expect(deadlinesIn(says)).toEqual({ a: seconds })
    expect(failedIn(judge({ ...says, at: seconds - 1 }))).toEqual([])
    expect(failedIn(judge({ ...says, at: seconds }))).toEqual([expect.stringMatching(/^a: /)])
  })

  const returned: Record<string, { readonly says: CaseSays; readonly seconds: number }> = {
    'is the whole one': {
      says: a({ ready: false, acknowledged: false }, { at: 9_000, watched: [{ node: 'a', since: at(1), uid: 'uid-pod-a' }] }),
      seconds: 9_600,
    },
    'is the whole one also for the scheduler, where the node was down before': {
      says: a(
        { ready: false, isUnschedulable: true },
        { at: 9_000, watched: [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSeconds: 100 }] },
      ),
      seconds: 9_060,
    },
    'is shorter where the node was down before': {
      says: a(
        { ready: false, acknowledged: false },
        { at: 9_000, watched: [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSeconds: 100 }] },
      ),
      seconds: 9_500,
    },
  }

  it.each(Object.entries(returned))(
    'of a node that is Ready again, with a pod that its kubelet has not seen, %s',
    (_name, { says, seconds }) => {
      expect(deadlinesIn(says)).toEqual({ a: seconds })
      const watched = watch(says)
      expect(failedIn(judge({ ...says, watched, at: seconds - 1 }))).toEqual([])
      expect(failedIn(judge({ ...says, watched, at: seconds }))).toEqual([expect.stringMatching(/^a: /)])
    },
  )

  const none: Record<string, CaseSays> = {
    'that is healthy': a({}),
    'that has failed already': a(waiting('ImagePullBackOff')),
    'that is Ready, and waits for minReadySeconds': a({}, { minReadyMs: 1_800_000 }),
    'of a release that is stopped': a({ ready: false }, { stopped: { since: at(5) } }),
    'whose kubelet was silent before its pod was created': a({
      ...{ isNodeReady: false, answers: false, notReadySince: at(0) },
      ...{ ready: false, acknowledged: false },
    }),
    'that was unhealthy before its update': a({ ready: false }, { permits: [{ ...taken, wasBad: true }] }),
    'whose failure was accepted': a(
      { ready: false },
      { status: { failure: { reason: 'Accepted', message: '', nodes: [], release: 'r1', accepted: ['a'] } } },
    ),
    'of a rollback': a({ ready: false }, { tranche: { release: 'r1', canaryRevision: 'new', stableRevision: 'new' } }),
  }

  it.each(Object.entries(none))('runs for no node %s', (_name, says) => {
    expect(deadlinesIn(says)).toEqual({})
  })
})
