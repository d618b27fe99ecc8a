import { type Allowance, directionOf, nodeScopeText, parseNodeScope } from '@tranche/fence'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const NODES = 4
const allowance = fc.record({
  workloadUid: fc.constantFrom('first', 'first', 'first', 'second'),
  generation: fc.integer({ min: 1, max: 3 }),
  revision: fc.constantFrom('v2', 'v2', 'v3'),
  // Small enough to matter in a small cluster: the size limits only where the partition allows more.
  size: fc.integer({ min: 1, max: NODES - 1 }),
  partition: fc.integer({ min: 0, max: 1 }),
  limit: fc.integer({ min: 1, max: 3 }),
})
const scope = fc.constantFrom(undefined, 'rules', 'rules.1', 'rules.2', 'others', 'others.1')

/**
 * Nodes, one bit each, that may be taken in a scope. Digests cannot show that one of two rule sets contains the other.
 */
const nodesInScope: Readonly<Record<string, number>> = {
  rules: 0b0111,
  'rules.1': 0b0001,
  'rules.2': 0b0011,
  others: 0b1110,
  'others.1': 0b1000,
}

/** Pod of a node, by revision, and whether it is Ready. */
const states = ['v1', 'v2', 'v3'].flatMap((revision) => [true, false].map((ready) => ({ revision, ready })))
const clusters = Array.from({ length: NODES }, (_, at) => sequences(at + 1, states)).flat()

describe('the direction of a change, compared with the deletions it allows in every cluster of up to four nodes', () => {
  it('widens exactly where every allowed deletion stays allowed (F8, F9)', () => {
    fc.assert(
      fc.property(allowance, allowance, (from, to) => {
        expect(['same', 'widens'].includes(directionOf(from, to))).toBe(isSubset(from, to))
      }),
      { numRuns: 250 },
    )
  })

  it('lowers the limit exactly where nothing else narrows (F10)', () => {
    fc.assert(
      fc.property(allowance, allowance, (from, to) => {
        const lowers = to.limit < from.limit && isSubset(from, { ...to, limit: from.limit })
        expect(directionOf(from, to) === 'lowersLimit').toBe(lowers)
      }),
      { numRuns: 250 },
    )
  })

  it('is the same exactly where the record would not change (F9, F10)', () => {
    fc.assert(
      fc.property(allowance, allowance, (from, to) => {
        expect(directionOf(from, to) === 'same').toBe(JSON.stringify(from) === JSON.stringify(to))
        expect(directionOf(from, { ...from })).toBe('same')
      }),
    )
  })
})

describe('the scope of a record', () => {
  it('widens only where every allowed deletion stays allowed (F8, F9)', () => {
    fc.assert(
      fc.property(allowance, allowance, scope, scope, (from, to, before, after) => {
        const [narrow, wide] = [
          { ...from, scope: before },
          { ...to, scope: after },
        ]
        if (['same', 'widens'].includes(directionOf(narrow, wide))) expect(isSubset(narrow, wide)).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  it.each<[string | undefined, string | undefined, string, string]>([
    ['rules.1', 'rules.2', 'widens', 'a step adds nodes to those of the steps before it'],
    ['rules.2', 'rules', 'widens', 'in the end every node may be taken'],
    ['rules.2', 'rules.1', 'narrows', 'a step back takes nodes away'],
    ['rules', 'rules.2', 'narrows', 'a step takes nodes away where every node was allowed'],
    ['rules.1', 'others.2', 'narrows', 'a digest does not say what other rules allow'],
    [undefined, 'rules', 'narrows', 'rules where there were none'],
    ['rules', undefined, 'narrows', 'no rules any more, for they may have said how many of a zone at a time'],
    ['rules.1', 'rules.1', 'same', 'nothing changes'],
  ])('%s to %s %s: %s (F8, F9)', (before, after, direction, _why) => {
    const same = { workloadUid: 'first', generation: 1, revision: 'v2', size: 3, partition: 0, limit: 1 }
    expect(directionOf({ ...same, scope: before }, { ...same, scope: after })).toBe(direction)
  })

  it('reads back what was written', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-f]{1,16}$/), fc.option(fc.nat(50)), (digest, steps) => {
        expect(parseNodeScope(nodeScopeText({ digest, steps }))).toEqual({ digest, steps })
      }),
    )
    expect(parseNodeScope(undefined)).toBeUndefined()
  })
})

/** Whether every set of pods that may be deleted together under `from` may be deleted under `to`, in any cluster. */
function isSubset(from: Allowance, to: Allowance): boolean {
  if (from.workloadUid !== to.workloadUid) return false
  return clusters.every((cluster) => {
    for (let taken = 1; taken < 1 << cluster.length; taken++)
      if (isAllowed(cluster, taken, from) && !isAllowed(cluster, taken, to)) return false
    return true
  })
}

/** G1 to G4 in their own words; `taken` has one bit for each node whose pod is deleted. */
function isAllowed(cluster: readonly (typeof states)[number][], taken: number, allowance: Allowance): boolean {
  const { revision, size, partition, limit, scope } = allowance
  if (scope !== undefined && (taken & ~(nodesInScope[scope] ?? 0)) !== 0) return false
  const chosen = cluster.filter((_, at) => isTaken(taken, at))
  if (chosen.some((pod) => pod.revision === revision)) return false
  const lack = Math.min(size, cluster.length - partition) - cluster.filter((pod) => pod.revision === revision).length
  if (chosen.length > lack || chosen.length > limit) return false
  const down = cluster.filter((pod, at) => isTaken(taken, at) || !pod.ready)
  return down.length <= limit || !chosen.some(({ ready }) => ready)
}

function isTaken(taken: number, at: number): boolean {
  return ((taken >> at) & 1) === 1
}

function sequences<T>(length: number, of: readonly T[]): readonly (readonly T[])[] {
  return length === 0 ? [[]] : sequences(length - 1, of).flatMap((rest) => of.map((one) => [...rest, one]))
}
