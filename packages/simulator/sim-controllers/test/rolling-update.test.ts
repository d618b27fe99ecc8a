import type { DaemonSet, Pod } from '@tranche/kube-types'
import { createRandom } from '@tranche/sim-api'
import { createNodeLedger, type Ledger, planRollingUpdate, planStatus, strategyOf } from '@tranche/sim-controllers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { daemonSet, node, nowMs, pod } from './builders.ts'

type Nodes = Readonly<Record<string, readonly Pod[]>>

function ledgerOf(pods: Nodes, target: DaemonSet = daemonSet()): Ledger {
  const ledger = createNodeLedger({ node, podsOn: (name) => pods[name] ?? [], nodeNames: () => Object.keys(pods) })
  return ledger.read({ daemonSet: target, hash: 'new' }, nowMs)
}

/** One letter a node: `o` old available, `x` old unready, `n` new available, `w` new unready, `-` empty, `t` old terminating. */
function nodesFrom(letters: string): Nodes {
  const words: Readonly<Record<string, readonly string[]>> = {
    o: ['old'],
    x: ['old unready'],
    n: [''],
    w: ['unready'],
    '-': [],
    t: ['old terminating'],
  }
  return Object.fromEntries([...letters].map((letter, at) => [`node-${at}`, words[letter]!.map((text) => pod(`node-${at}`, text))]))
}

describe('planRollingUpdate', () => {
  const cases: readonly [name: string, nodes: string, maxUnavailable: number, deletions: number][] = [
    ['takes as many as the limit', 'ooooo', 2, 2],
    ['takes the last ones', 'onnnn', 2, 1],
    ['takes none when all are new', 'nnnnn', 2, 0],
    ['waits for new pods that are not ready', 'wwwoo', 3, 0],
    ['counts empty nodes', '-oooo', 2, 1],
    ['counts terminating pods', 'tt' + 'ooo', 2, 0],
    ['replaces unready old pods whatever the limit', 'xxxxx', 3, 5],
    ['lets unready old pods use up the limit', 'xoooo', 1, 1],
    ['fills the limit beside unready old pods', 'xoooo', 2, 2],
  ]

  it.each(cases)('%s', (_name, letters, maxUnavailable, deletions) => {
    expect(planRollingUpdate(ledgerOf(nodesFrom(letters)), maxUnavailable, createRandom('seed').next)).toHaveLength(deletions)
  })

  it('replaces the unready old pod, and no available one', () => {
    expect(planRollingUpdate(ledgerOf(nodesFrom('ooxoo')), 1, createRandom('seed').next)).toEqual(['node-2'])
  })

  it('chooses by the seed', () => {
    const choices = Array.from({ length: 20 }, (_, seed) => planRollingUpdate(ledgerOf(nodesFrom('oooo')), 1, createRandom(seed).next)[0])
    expect(new Set(choices).size).toBe(4)
  })
})

describe('strategyOf', () => {
  const rolling = (maxUnavailable: number | string, maxSurge: number | string = 0): DaemonSet =>
    daemonSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } } })
  const cases: readonly [name: string, daemonSet: DaemonSet, desired: number, want: unknown][] = [
    ['rolls one at a time by default', daemonSet(), 5, { kind: 'rolling', maxUnavailable: 1 }],
    ['does nothing for an empty cluster', rolling(0), 0, { kind: 'rolling', maxUnavailable: 0 }],
    ['takes 0 for 1 where there are nodes', rolling(0), 2, { kind: 'rolling', maxUnavailable: 1 }],
    ['halves', rolling('50%'), 2, { kind: 'rolling', maxUnavailable: 1 }],
    ['rounds up', rolling('50%'), 3, { kind: 'rolling', maxUnavailable: 2 }],
    ['waits for deletions', daemonSet({ updateStrategy: { type: 'OnDelete' } }), 3, { kind: 'onDelete' }],
    ['rounds surge up', rolling(0, '10%'), 11, { kind: 'surge', maxSurge: 2 }],
    ['89 surges by half', rolling(0, '50%'), 2, { kind: 'surge', maxSurge: 1 }],
    ['89 surges by all', rolling(0, '100%'), 2, { kind: 'surge', maxSurge: 2 }],
  ]

  it.each(cases)('%s', (_name, one, desired, want) => expect(strategyOf(one, desired)).toEqual(want))
})

describe('the ledger, for every history', () => {
  const letter = fc.constantFrom('o', 'x', 'n', 'w', '-', 't')
  const change = fc.record({ at: fc.nat(9), letter })

  it('has the same result after each change as a full evaluation of all nodes', () => {
    fc.assert(
      fc.property(fc.array(letter, { minLength: 10, maxLength: 10 }), fc.array(change, { maxLength: 30 }), (start, changes) => {
        const pods: Record<string, readonly Pod[]> = { ...nodesFrom(start.join('')) }
        const target = { daemonSet: daemonSet(), hash: 'new' }
        const ledger = createNodeLedger({ node, podsOn: (name) => pods[name] ?? [], nodeNames: () => Object.keys(pods) })
        ledger.read(target, nowMs)
        for (const { at, letter: next } of changes) {
          pods[`node-${at}`] = nodesFrom(next.padStart(at + 1, '-'))[`node-${at}`]!
          ledger.touch(`node-${at}`)
        }
        expect(sums(ledger.read(target, nowMs))).toEqual(sums(ledgerOf(pods)))
      }),
    )
  })

  it('notices without an event that a ready pod has become available', () => {
    const pods = { a: [pod('a', 'readyFor=10')] }
    const target = { daemonSet: daemonSet({ minReadySeconds: 15 }), hash: 'new' }
    const ledger = createNodeLedger({ node, podsOn: () => pods.a, nodeNames: () => ['a'] })
    expect(ledger.read(target, nowMs).counts.available).toBe(0)
    expect(ledger.read(target, nowMs + 5000).counts.available).toBe(1)
  })
})

describe('planStatus', () => {
  const { counts } = ledgerOf(nodesFrom('onw-'))

  it('always contains the desired, scheduled and ready counts, and the others unless 0', () => {
    expect(planStatus(daemonSet(), counts, 1)).toEqual({
      desiredNumberScheduled: 4,
      currentNumberScheduled: 3,
      numberMisscheduled: 0,
      numberReady: 2,
      updatedNumberScheduled: 2,
      numberAvailable: 2,
      numberUnavailable: 2,
      observedGeneration: 1,
    })
    expect(planStatus(daemonSet(), ledgerOf({}).counts, 1)).toEqual({
      desiredNumberScheduled: 0,
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      numberReady: 0,
      observedGeneration: 1,
    })
  })

  it('writes nothing if everything is already stored', () => {
    const status = planStatus(daemonSet(), counts, 1)
    expect(planStatus({ ...daemonSet(), status: status! }, counts, 1)).toBeUndefined()
  })

  it('raises observedGeneration only in a pass that has acted', () => {
    const stored = { ...daemonSet({ generation: 2 }), status: planStatus(daemonSet(), counts, 1)! }
    expect(planStatus(stored, counts, undefined)).toBeUndefined()
    expect(planStatus(stored, counts, 2)).toMatchObject({ observedGeneration: 2 })
  })

  it('keeps the fields of other writers', () => {
    const conditions = [{ type: 'Tested', status: 'True' }]
    expect(planStatus({ ...daemonSet(), status: { conditions } as never }, counts, 1)).toMatchObject({ conditions })
  })
})

function sums({ counts, serving, creates, removals, ended, releases, rolling }: Ledger): unknown {
  const sorted = [creates, removals, ended, releases].map((set) => [...set].sort())
  const states = Object.entries(rolling).map(([kind, set]) => [kind, [...set.values()].sort()])
  return { counts: { ...counts }, serving, sorted, states }
}
