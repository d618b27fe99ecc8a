import { firstObservationOf, notableNodes, stoppedTimeAfter } from '@tranche/verdict'
import { describe, expect, it } from 'vitest'
import { at, fleetOf, running, START_MS, waiting, watch } from './verdict-notation.ts'

const taken = [{ node: 'a', podUid: 'before', podResourceVersion: '4' }]

describe('watchNodes', () => {
  it('starts with a node without an available pod', () => {
    expect(watch({ nodes: { a: { ready: false }, b: {} } })).toEqual([{ node: 'a', since: at(1), uid: 'uid-pod-a', downSince: at(1) }])
  })

  it('watches only the nodes that the release left, after its end', () => {
    const nodes = { a: { ready: false }, b: { ready: false } }
    expect(watch({ nodes, tranche: { left: { nodes: ['b'] } } })).toMatchObject([{ node: 'b' }])
  })

  it('drops a first start', () => {
    const watched = [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSince: at(1) }]
    expect(watch({ nodes: { a: { readyStamp: at(30) } }, watched, permits: taken, at: 40 })).toEqual([])
  })

  it('keeps the down time of a node that had been healthy before', () => {
    const watched = [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSince: at(100) }]
    expect(watch({ nodes: { a: { readyStamp: at(130) } }, watched, at: 140 })).toMatchObject([{ node: 'a', downSeconds: 30 }])
  })

  it('adds up the down time of a flapping pod', () => {
    const watched = [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSeconds: 30, downSince: at(200) }]
    expect(watch({ nodes: { a: { readyStamp: at(215) } }, watched, at: 215 })).toMatchObject([{ downSeconds: 45 }])
  })

  it('subtracts stops', () => {
    const watched = [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSince: at(100) }]
    expect(watch({ nodes: { a: { readyStamp: at(130) } }, watched, at: 140, stopped: { seconds: 20 } })).toMatchObject([
      { downSeconds: 10 },
    ])
  })

  it('continues with another pod: adds its restarts and its time', () => {
    const first = watch({ nodes: { a: { ...waiting('CrashLoopBackOff', 2) } }, at: 20 })
    const second = watch({ nodes: { a: { ...waiting('CrashLoopBackOff', 1), uid: 'next', createdAt: at(30) } }, watched: first, at: 40 })
    expect(second).toMatchObject([{ uid: 'next', restarts: 2, seen: 1, downSince: at(1) }])
  })

  it('continues while there is no pod', () => {
    const first = watch({ nodes: { a: { ...waiting('CrashLoopBackOff', 2) } }, at: 20 })
    const between = watch({ nodes: { a: { pod: 'none' } }, watched: first, at: 25 })
    expect(between).toMatchObject([{ since: at(25), restarts: 2, downSince: at(1) }])
    expect(
      watch({ nodes: { a: { ...running(1), uid: 'next', createdAt: at(26), readyStamp: at(30) } }, watched: between, at: 31 }),
    ).toMatchObject([{ uid: 'next', restarts: 2, seen: 1 }])
  })

  it('does not count the time of a terminating pod, because no other pod can be created', () => {
    const first = watch({ nodes: { a: { ...waiting('CrashLoopBackOff', 2) } }, at: 20 })
    const ending = watch({ nodes: { a: { ...waiting('CrashLoopBackOff', 2), terminating: true } }, watched: first, at: 25 })
    expect(ending).toEqual(first)
    const other = watch({ nodes: { a: { terminating: true, uid: 'next' } }, watched: first, at: 25 })
    expect(other).toMatchObject([{ since: at(1), uid: 'next', restarts: 2 }])
    const gone = watch({ nodes: { a: { pod: 'none' } }, watched: ending, at: 90 })
    expect(gone).toMatchObject([{ since: at(90), restarts: 2, downSince: at(1) }])
    expect(gone[0]).not.toHaveProperty('uid')
  })

  describe('of a node that is away: its kubelet was silent before its pod was created, and has not seen it', () => {
    const pending = { ready: false, acknowledged: false, readyStamp: at(1) }
    const away = { ...pending, isNodeReady: false, answers: false, notReadySince: at(0) }

    it('counts no down time, and all of it once the node is Ready again', () => {
      const first = watch({ nodes: { a: away }, at: 20 })
      expect(first).toEqual([{ node: 'a', since: at(1), uid: 'uid-pod-a' }])
      const later = watch({ nodes: { a: away }, watched: first, at: 5_000 })
      expect(later).toEqual(first)
      const back = watch({ nodes: { a: pending }, watched: later, at: 5_010 })
      expect(back).toEqual([{ ...first[0], downSince: at(5_010) }])
      expect(watch({ nodes: { a: pending }, watched: back, at: 5_100 })).toEqual(back)
    })

    it('begins with the return also where the kubelet has seen the pod meanwhile, and reports nothing of it', () => {
      const watched = [{ node: 'a', since: at(1), uid: 'uid-pod-a' }]
      const back = watch({ nodes: { a: { ...pending, acknowledged: true, readyStamp: at(5_008) } }, watched, at: 5_010 })
      expect(back).toMatchObject([{ downSince: at(5_008) }])
    })

    it('keeps the down time from before its pod was created, also once it is back', () => {
      const watched = [{ node: 'a', since: at(1), downSince: at(1) }]
      const created = { createdAt: at(31), readyStamp: at(31) }
      const gone = watch({ nodes: { a: { ...away, ...created } }, watched, at: 5_000 })
      expect(gone).toMatchObject([{ downSeconds: 30 }])
      expect(gone[0]).not.toHaveProperty('downSince')
      const back = watch({ nodes: { a: { ...pending, ...created } }, watched: gone, at: 6_000 })
      expect(back).toMatchObject([{ downSeconds: 30, downSince: at(6_000) }])
    })

    it('counts all of it where the kubelet fell silent after the pod was created: the version may be the cause', () => {
      const watched = [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSince: at(1) }]
      expect(watch({ nodes: { a: { ...away, notReadySince: at(31) } }, watched, at: 5_000 })).toEqual(watched)
    })

    it('counts what the node had no pod for before its pod was created', () => {
      const watched = [{ node: 'a', since: at(100), downSince: at(100) }]
      const gone = watch({ nodes: { a: { ...away, createdAt: at(140) } }, watched, at: 5_000 })
      expect(gone).toMatchObject([{ uid: 'uid-pod-a', downSeconds: 40 }])
    })

    it('counts a new pod on a Ready node from its creation', () => {
      const watched = [{ node: 'a', since: at(1), uid: 'before', seen: 1 }]
      expect(watch({ nodes: { a: { ...pending, createdAt: at(30), readyStamp: at(30) } }, watched, at: 35 })).toMatchObject([
        { downSince: at(30) },
      ])
    })
  })

  it('uses the restarts of a node that was unhealthy before as a baseline', () => {
    const permits = [{ ...taken[0]!, wasBad: true }]
    expect(watch({ nodes: { a: { ...running(5), ready: false } }, permits })).toEqual([
      { node: 'a', since: at(10), uid: 'uid-pod-a', seen: 5, ignoredRestarts: 5 },
    ])
  })

  it('keeps the same entry for a node that was unhealthy before, until its pod restarts again', () => {
    const permits = [{ ...taken[0]!, wasBad: true }]
    const first = watch({ nodes: { a: { ...running(5), ready: false } }, permits, at: 10 })
    expect(watch({ nodes: { a: { ...running(5), ready: false } }, permits, watched: first, at: 15 })).toEqual(first)
    expect(watch({ nodes: { a: { ...running(6), ready: false } }, permits, watched: first, at: 20 })).toEqual([
      { ...first[0], seen: 6, ignoredRestarts: 6 },
    ])
  })

  it('never counts the ignored restarts of a node after its pod is replaced', () => {
    const ignored = [{ node: 'a', since: at(10), uid: 'uid-pod-a', seen: 6, ignoredRestarts: 5 }]
    const next = watch({ nodes: { a: { ...running(2), uid: 'next', createdAt: at(30) } }, watched: ignored, at: 40 })
    expect(next).toMatchObject([{ uid: 'next', restarts: 6, seen: 2, ignoredRestarts: 5 }])
  })

  it('keeps the down time of a lost node that is Ready again before its taint goes', () => {
    const watched = [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSeconds: 500, restarts: 2 }]
    expect(watch({ nodes: { a: { taint: 'node.kubernetes.io/unreachable' } }, watched })).toEqual(watched)
  })

  it('drops a node that is not desired though it works', () => {
    const watched = [{ node: 'a', since: at(1), uid: 'uid-pod-a', downSeconds: 500, restarts: 2 }]
    expect(watch({ nodes: { a: { taint: 'gpu' } }, watched })).toEqual([])
  })

  it('drops a node that runs another revision or is gone', () => {
    const watched = ['a', 'gone'].map((node) => ({ node, since: at(1), downSince: at(1) }))
    expect(watch({ nodes: { a: { pod: 'old' } }, watched })).toEqual([])
  })
})

describe('notableNodes', () => {
  const times = { nowMs: START_MS + 15_000, stopped: { release: 'r1', startedAt: at(0), seconds: 0 } }
  const down = (node: string, seconds: number) => ({ node, since: at(1), downSince: at(seconds) })

  it('are those that are down for ten seconds, or were down before, or restarted', () => {
    const entries = [down('a', 5), down('b', 6), { ...down('c', 14), downSeconds: 1 }, { node: 'd', since: at(1), seen: 1 }]
    expect(notableNodes(entries, times).map(({ node }) => node)).toEqual(['a', 'c', 'd'])
  })

  it('are all of them while the release is stopped', () => {
    expect(notableNodes([down('b', 6)], { ...times, stopped: { ...times.stopped, since: at(15) } })).toHaveLength(1)
  })

  it('are those that are away, so that another process knows it', () => {
    expect(notableNodes([{ node: 'a', since: at(1), uid: 'uid-pod-a' }], times)).toHaveLength(1)
  })

  it('are at most a hundred, the longest down first', () => {
    const entries = Array.from({ length: 150 }, (_, index) => down(`node-${1000 + index}`, -index))
    const kept = notableNodes(entries, times)
    expect(kept).toHaveLength(100)
    expect(kept[0]?.node).toBe('node-1050')
  })
})

describe('firstObservationOf', () => {
  const fleet = fleetOf({ a: waiting('CrashLoopBackOff'), b: {}, c: { pod: 'old', ...waiting('CrashLoopBackOff') }, d: { pod: 'none' } })
  const question = { fleet, revision: 'new', minReadyMs: 0, monotonicMs: 10_000, nowMs: START_MS + 10_900, permits: [] }

  it('counts all pods of a revision that was made for the release', () => {
    expect(firstObservationOf('r1', { ...question, wasThereBefore: false })).toEqual({ release: 'r1', startedAt: at(10), seconds: 0 })
  })

  it('records the unhealthy pods of a revision that existed before', () => {
    expect(firstObservationOf('r1', { ...question, wasThereBefore: true }).olderPods).toEqual(['uid-pod-a'])
  })

  it('counts the unhealthy pods that took the place of a deleted one, and not those that are to be deleted (G9)', () => {
    const known = { ...question, wasThereBefore: true }
    expect(firstObservationOf('r1', { ...known, permits: taken }).olderPods).toBeUndefined()
    const present = { node: 'a', podUid: 'uid-pod-a', podResourceVersion: '4' }
    expect(firstObservationOf('r1', { ...known, permits: [present] }).olderPods).toEqual(['uid-pod-a'])
  })
})

describe('stoppedTimeAfter', () => {
  it('keeps the pods that are older than the release', () => {
    const known = { release: 'r1', startedAt: at(0), seconds: 5, olderPods: ['uid-pod-a'] }
    expect(stoppedTimeAfter(known, 'r1', false, START_MS + 10_000)).toEqual(known)
    expect(stoppedTimeAfter(known, 'r2', false, START_MS + 10_000).olderPods).toBeUndefined()
  })

  it('starts with a release, from the whole second before', () => {
    expect(stoppedTimeAfter({ release: 'r0', startedAt: at(-9), seconds: 9, since: at(-1) }, 'r1', false, START_MS + 700)).toEqual({
      release: 'r1',
      startedAt: at(0),
      seconds: 0,
    })
  })

  it('keeps the start of a stop, and adds whole seconds when it ends', () => {
    const stopped = stoppedTimeAfter({ release: 'r1', startedAt: at(0), seconds: 5 }, 'r1', true, START_MS + 10_000)
    expect(stopped).toEqual({ release: 'r1', startedAt: at(0), seconds: 5, since: at(10) })
    expect(stoppedTimeAfter(stopped, 'r1', true, START_MS + 20_000)).toEqual(stopped)
    expect(stoppedTimeAfter(stopped, 'r1', false, START_MS + 20_200)).toEqual({ release: 'r1', startedAt: at(0), seconds: 16 })
  })
})
