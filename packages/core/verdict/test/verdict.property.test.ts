import type { WatchedNode } from '@tranche/api-schema'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { at, failedIn, judge, type NodeSays, running, waiting, watch } from './verdict-notation.ts'

/** State of a node at one time. */
const looks: Readonly<Record<string, NodeSays>> = {
  well: {},
  down: { ready: false },
  missing: { pod: 'none' },
  creating: waiting('ContainerCreating'),
  crashing: waiting('CrashLoopBackOff', 1),
  restarted: running(1),
  restartedOften: running(3),
  outOfMemory: running(1, 'OOMKilled'),
  away: { isNodeReady: false },
  old: { pod: 'old' },
}
const names = ['a', 'b', 'c', 'd'] as const
const look = fc.constantFrom(...Object.keys(looks))
const fleets = fc.record({ a: look, b: look, c: look, d: look })
const nodesOf = (says: Readonly<Record<string, string>>): Readonly<Record<string, NodeSays>> =>
  Object.fromEntries(Object.entries(says).map(([name, how]) => [name, looks[how] ?? {}]))

/** State of a controller that looks every second; `downs` are the seconds in which the pod of `a` is not Ready. */
function watchedThrough(seconds: number, isDown: (second: number) => boolean, stopped: (second: number) => object): readonly WatchedNode[] {
  let watched: readonly WatchedNode[] = []
  for (let second = 2; second <= seconds; second++) {
    watched = watch({ nodes: { a: podAt(second, isDown) }, watched, at: second, stopped: stopped(second) })
  }
  return watched
}

/** The pod of a node whose readiness changes as `isDown` says, with the stamp of its last change. */
function podAt(second: number, isDown: (second: number) => boolean): NodeSays {
  let changed = second
  while (changed > 1 && isDown(changed - 1) === isDown(second)) changed--
  return { ready: !isDown(second), readyStamp: at(changed) }
}

describe('a verdict on any fleet', () => {
  it('never counts a node that was unhealthy before its update and since', () => {
    fc.assert(
      fc.property(fleets, fc.subarray([...names]), fc.nat(1_000), (says, bad, seconds) => {
        const permits = bad.map((node) => ({ node, podUid: 'before', podResourceVersion: '4', wasBad: true }))
        const failed = judge({ nodes: nodesOf(says), permits, at: seconds }).verdict.failed.map(({ node }) => node)
        const neverWell = ['down', 'missing', 'creating', 'crashing', 'old']
        expect(failed.filter((node) => bad.some((other) => other === node) && neverWell.includes(says[node as 'a']))).toEqual([])
      }),
    )
  })

  it('only gets worse with more restarts and with time', () => {
    fc.assert(
      fc.property(fc.nat(9), fc.nat(9), fc.boolean(), fc.nat(2_000), fc.nat(2_000), (restarts, more, ready, seconds, later) => {
        const before = failedIn(judge({ nodes: { a: { ...running(restarts), ready } }, at: 2 + seconds }))
        const after = failedIn(judge({ nodes: { a: { ...running(restarts + more), ready } }, at: 2 + seconds + later }))
        expect(after.length).toBeGreaterThanOrEqual(before.length)
      }),
    )
  })

  it('counts every node once, and is bad exactly when more failed than are tolerated', () => {
    fc.assert(
      fc.property(fleets, fc.nat(5), fc.nat(1_000), (says, maxFailedNodes, seconds) => {
        const { verdict } = judge({ nodes: nodesOf(says), rules: { maxFailedNodes }, at: seconds })
        expect(new Set(verdict.failed.map(({ node }) => node)).size).toBe(verdict.count)
        expect(verdict.isBad).toBe(verdict.count > maxFailedNodes)
      }),
    )
  })

  it('is the same for every process with the same status and view, at any time of its own clock', () => {
    fc.assert(
      fc.property(fleets, fc.nat(1_000), (says, seconds) => {
        const watched = watch({ nodes: nodesOf(says), at: seconds })
        expect(judge({ nodes: nodesOf(says), at: seconds, watched }).verdict).toEqual(
          judge({ nodes: nodesOf(says), at: seconds, watched: structuredClone(watched) }).verdict,
        )
      }),
    )
  })
})

describe('the deadline', () => {
  it('passes after that much total down time: flapping resets nothing, and stops do not count', () => {
    const phases = fc.array(fc.record({ down: fc.integer({ min: 1, max: 20 }), up: fc.integer({ min: 1, max: 20 }) }), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(
        phases,
        fc.option(fc.record({ from: fc.integer({ min: 2, max: 60 }), length: fc.integer({ min: 1, max: 30 }) })),
        (flaps, stop) => {
          // Well for five seconds at first; then it flaps; and then it stays down.
          const pattern = [
            ...Array<boolean>(5).fill(false),
            ...flaps.flatMap(({ down, up }) => [...Array<boolean>(down).fill(true), ...Array<boolean>(up).fill(false)]),
          ]
          const isDown = (second: number): boolean => pattern[second - 1] ?? true
          const isStopped = (second: number): boolean => stop !== null && second >= stop.from && second < stop.from + stop.length
          const stopped = (second: number): object => {
            if (stop === null || second < stop.from) return {}
            return isStopped(second) ? { since: at(stop.from) } : { seconds: stop.length }
          }
          const deadline = 100
          const rules = { progressDeadlineSeconds: deadline }
          let counted = 0
          let second = 1
          while (counted < deadline) {
            if (isDown(second) && !isStopped(second)) counted++
            second++
          }
          const judgeAt = (moment: number): boolean =>
            judge({
              nodes: { a: podAt(moment, isDown) },
              rules,
              at: moment,
              watched: watchedThrough(moment, isDown, stopped),
              stopped: stopped(moment),
            }).verdict.isBad
          expect([judgeAt(second - 1), judgeAt(second)]).toEqual([false, true])
        },
      ),
      { numRuns: 40 },
    )
  })
})
