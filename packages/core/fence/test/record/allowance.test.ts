import { type Allowance, type Direction, directionOf } from '@tranche/fence'
import { describe, expect, it } from 'vitest'

const base: Allowance = { workloadUid: 'first', generation: 4, revision: 'v2', size: 4, partition: 2, limit: 3 }

describe('directionOf', () => {
  const cases: Record<string, { to: Partial<Allowance>; direction: Direction }> = {
    'nothing changes': { to: {}, direction: 'same' },
    'a smaller partition allows more': { to: { partition: 1 }, direction: 'widens' },
    'a larger size allows more': { to: { size: 5 }, direction: 'widens' },
    'a smaller size allows less (F8)': { to: { size: 3 }, direction: 'narrows' },
    'a smaller partition does not compensate for a smaller size': { to: { size: 3, partition: 0 }, direction: 'narrows' },
    'a larger size for nodes outside the steps allows more': { to: { size: 5, outside: 1 }, direction: 'widens' },
    'the same size with more nodes outside the steps allows less (F8)': { to: { outside: 1 }, direction: 'narrows' },
    'a larger size does not compensate for more nodes outside the steps': { to: { size: 5, outside: 2 }, direction: 'narrows' },
    'a higher limit allows more': { to: { limit: 4 }, direction: 'widens' },
    'a generation with the same revision is followed in one write (F10)': { to: { generation: 5 }, direction: 'widens' },
    'a lower limit withdraws the permits beyond it (F10)': { to: { limit: 2 }, direction: 'lowersLimit' },
    'a lower limit with a smaller partition lowers the limit': { to: { limit: 2, partition: 0 }, direction: 'lowersLimit' },
    'a larger partition allows less (F8)': { to: { partition: 3 }, direction: 'narrows' },
    'another revision allows less (F8)': { to: { revision: 'v3' }, direction: 'narrows' },
    'another DaemonSet of the same name allows less (F11)': { to: { workloadUid: 'second' }, direction: 'narrows' },
    'a higher limit does not compensate for a larger partition': { to: { partition: 3, limit: 9 }, direction: 'narrows' },
  }

  it.each(Object.entries(cases))('%s', (_name, { to, direction }) => {
    expect(directionOf(base, { ...base, ...to })).toBe(direction)
  })

  it('agrees, for every pair, with whether the allowed deletions are a subset', () => {
    const allowances = everyAllowance().map((allowance) => ({ allowance, deletions: allowedDeletions(allowance) }))
    for (const from of allowances) {
      for (const to of allowances) {
        const keepsAll = isSubset(from.deletions, to.deletions)
        const atSameLimit = allowances.find(({ allowance }) => isEqual(allowance, { ...to.allowance, limit: from.allowance.limit }))!
        const keepsAllButForTheLimit = isSubset(from.deletions, atSameLimit.deletions)
        const want = isEqual(from.allowance, to.allowance)
          ? 'same'
          : keepsAll
            ? 'widens'
            : keepsAllButForTheLimit
              ? 'lowersLimit'
              : 'narrows'
        if (directionOf(from.allowance, to.allowance) !== want) {
          expect({ from: from.allowance, to: to.allowance, direction: directionOf(from.allowance, to.allowance) }).toMatchObject({
            direction: want,
          })
        }
      }
    }
  })
})

// ── every small state ────────────────────────────────────────────────────────

const NODES = 4
const revisions = ['v1', 'v2', 'v3'] as const

/** A node without a standing pod, or with one of a revision that is Ready or not. */
type SmallNode = { readonly revision: (typeof revisions)[number] | null; readonly ready: boolean }

const smallNodes: readonly SmallNode[] = [
  { revision: null, ready: false },
  ...revisions.flatMap((revision) => [true, false].map((ready): SmallNode => ({ revision, ready }))),
]

/** Every cluster of one to four nodes: a size does not follow the number of desired nodes. */
const states = Array.from({ length: NODES }, (_, at) => at + 1).flatMap((count) =>
  Array.from({ length: smallNodes.length ** count }, (_, number) => stateOf(number, count)),
)

function everyAllowance(): readonly Allowance[] {
  const all: Allowance[] = []
  for (const workloadUid of ['first', 'second'])
    for (const revision of ['v2', 'v3'])
      for (const size of [1, 2, 3])
        for (const partition of [0, 1])
          for (const limit of [1, 2, 3]) all.push({ workloadUid, generation: 1, revision, size, partition, limit })
  return all
}

/** For each state and each of the two DaemonSets, the nodes whose pod may be deleted next, as bits. */
function allowedDeletions(allowance: Allowance): Uint8Array {
  const masks = ['first', 'second'].flatMap((uid) => states.map((state) => (uid === allowance.workloadUid ? maskOf(state, allowance) : 0)))
  return Uint8Array.from(masks)
}

/** Written from the guarantees: G1 (Ready costs budget), G3 (what the batch lacks), G4 (old pods only). */
function maskOf(state: readonly SmallNode[], { revision, size, partition, limit }: Allowance): number {
  const onTheWay = state.filter((node) => node.revision === null || node.revision === revision).length
  if (onTheWay >= Math.min(size, state.length - partition)) return 0
  const missing = state.filter((node) => node.revision === null).length
  const down = state.filter((node) => !node.ready).length
  return state.reduce((mask, node, at) => {
    const isOld = node.revision !== null && node.revision !== revision
    const affordable = node.ready ? down < limit : missing < limit
    return isOld && affordable ? mask | (1 << at) : mask
  }, 0)
}

function stateOf(number: number, count: number): readonly SmallNode[] {
  return Array.from({ length: count }, (_, at) => smallNodes[Math.floor(number / smallNodes.length ** at) % smallNodes.length]!)
}

function isSubset(inner: Uint8Array, outer: Uint8Array): boolean {
  return inner.every((mask, at) => (mask & ~outer[at]!) === 0)
}

function isEqual(a: Allowance, b: Allowance): boolean {
  return (['workloadUid', 'revision', 'size', 'partition', 'limit'] as const).every((field) => a[field] === b[field])
}
