import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const zones: Readonly<Record<string, string>> = { a: 'east', b: 'east', c: 'west', d: 'west' }

/** The fleet over two zones, with these terms of a policy, which everybody has seen. */
function under(terms: Fields): Script {
  const script = fleet()
  for (const [name, zone] of Object.entries(zones)) script.node(name, { labels: { zone } })
  return script
    .order({ spec: { tranche: terms } })
    .seen()
    .wait(2_000)
}

describe('a limit of the policy', () => {
  const limit = (maxUnavailable: number | string): (() => Script) => {
    return () => under({ maxUnavailable })
  }
  judgeEach(
    'G2',
    [
      ['stands in the place of the smaller one of the DaemonSet', (s) => s.record({ limit: 3 }).seen().del('a1').del('b1').del('c1'), []],
      ['lets no more nodes go', (s) => s.record({ limit: 4 }).seen().del('a1'), ['G2 a']],
    ],
    { begin: limit(3) },
  )
  judgeEach(
    'G2',
    [
      ['stands in the place of the larger one', (s) => s.record({ epoch: 2 }).seen().del('a1'), ['G2 a']],
      [
        'may have been unknown to whoever set the limit a moment after',
        (s) =>
          s
            .order({ spec: { tranche: { maxUnavailable: 3 } } })
            .record({ limit: 3 })
            .seen()
            .del('a1'),
        [],
      ],
    ],
    { begin: limit('25%') },
  )
})

describe('nodes that a policy exempts', () => {
  const dead = (exempt: number): (() => Script) => {
    return () =>
      under({ nodes: { notReady: { exempt } } })
        .node('d', { ready: 'Unknown' })
        .pod('d1', { ready: false })
        .seen()
        .wait(2_000)
  }
  judgeEach('G1', [['do not count as down', (s) => s.del('a1').del('b1'), []]], { begin: dead(1) })
  judgeEach('G1', [['are as many as it says', (s) => s.del('a1').del('b1'), ['G1 b']]], { begin: dead(0) })
  judgeEach('G1', [['are those that the writer has not seen Ready again', (s) => s.node('d', { ready: 'True' }).del('a1').del('b1'), []]], {
    begin: dead(1),
  })
  judgeEach('G1', [['are NotReady ones', (s) => s.node('d', { ready: 'True' }).seen().wait(2_000).del('a1').del('b1'), ['G1 b']]], {
    begin: dead(1),
  })
})

describe('the node rules of a policy', () => {
  const east = { matchLabels: { zone: 'east' } }
  judgeEach(
    'G3',
    [
      ['keep excluded nodes as they are', (s) => s.del('c1').del('a1'), ['G3 a']],
      ['hold from when whoever decides has seen them', (s) => s.order({ spec: { tranche: { nodes: { exclude: [] } } } }).del('a1'), []],
    ],
    { begin: () => under({ nodes: { exclude: [east] } }) },
  )
  judgeEach(
    'G3',
    [
      ['let the first step take the nodes that it selects', (s) => s.record({ scope: 'rules.1' }).seen().del('c1').del('a1'), ['G3 c']],
      ['let the last one take every other', (s) => s.record({ scope: 'rules' }).seen().del('c1').del('a1'), []],
    ],
    { begin: () => under({ nodes: { steps: [east] } }) },
  )
  judgeEach(
    'G1',
    [
      ['let so many nodes of a kind go at a time', (s) => s.del('a1').del('b1'), ['G1 b']],
      ['count each kind for itself', (s) => s.del('a1').del('c1'), []],
      ['let the next go when one is available again', (s) => s.del('a1').replace('a1').del('b1'), []],
    ],
    { begin: () => under({ nodes: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] } }) },
  )
  const order = (script: Script, pods: string): Script => script.record({ epoch: 2 }, '').seen().record({}, pods, 'executor-1')
  judgeEach(
    'G5',
    [
      ['put nodes in order before age', (s) => order(s, 'c1 d1'), []],
      ['find who takes the others first', (s) => order(s, 'a1 b1'), ['G5 a']],
      ['let those come first that are broken', (s) => order(s.pod('a1', { ready: false }).seen(), 'a1 c1'), []],
    ],
    {
      begin: () =>
        under({ nodes: { order: [{ selector: { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['east'] }] } }] } }),
    },
  )
  judgeEach(
    'G5',
    [
      ['let the newest come first', (s) => order(s, 'd1 a1'), []],
      ['find who takes the oldest first', (s) => order(s, 'a1 b1'), ['G5 a']],
    ],
    {
      begin: () =>
        under({ nodes: { order: [{ by: 'Newest' }] } })
          .pod('d1', { created: '2026-01-02T00:00:00Z' })
          .seen()
          .wait(2_000),
    },
  )
  /** The server's clock was set forward: the pod is younger than this moment. */
  const fromTheFuture = (s: Script, uid: string): Script =>
    s.record({}, '', 'executor-1').pod(uid, { ready: false, created: '2126-01-01T00:00:00Z' }).pod(uid, { ready: true }).seen().wait(10_000)
  const flapped = (s: Script): Script => s.pod('b1', { ready: false }).seen().wait(1_000).pod('b1', { ready: true }).seen().wait(1_000)
  judgeEach(
    'G5',
    [
      ['let one come first that is Ready and not available yet', (s) => order(flapped(s), 'b1'), []],
      [
        'let one come first that was restarted in one write of its kubelet',
        (s) => order(s.pod('b1', { readyAt: '2026-01-02T00:00:40Z' }).seen().wait(1_000), 'b1'),
        [],
      ],
      ['find it before an older one once it is available', (s) => order(flapped(s).wait(10_000), 'b1'), ['G5 b']],
      [
        'let one come first whose stamps lie in the future of a writer that has had no answer since',
        (s) => order(fromTheFuture(s, 'b1'), 'b1'),
        [],
      ],
      [
        'find it once the writer has had one',
        (s) => order(fromTheFuture(s, 'b1').record({ epoch: 3 }, '', 'executor-1').seen(), 'b1'),
        ['G5 b'],
      ],
      [
        'let one come first that is not available by the minReadySeconds that the DaemonSet has now',
        (s) => order(flapped(s.daemonSet({ minReadySeconds: 30, generation: 3 })).wait(10_000), 'b1'),
        [],
      ],
      [
        'find it once it is available by those, too',
        (s) => order(flapped(s.daemonSet({ minReadySeconds: 30, generation: 3 })).wait(31_000), 'b1'),
        ['G5 b'],
      ],
    ],
    {
      begin: () =>
        under({ nodes: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] } })
          .daemonSet({ minReadySeconds: 5, generation: 2 })
          .record({ epoch: 2, generation: 2 }, '')
          .pod('b1', { created: '2026-01-02T00:00:00Z' })
          .seen()
          .wait(40_000),
    },
  )
  judgeEach('G5', [['pass over nodes that may not be taken', (s) => order(s, 'c1 d1'), []]], {
    begin: () => under({ nodes: { exclude: [east] } }),
  })
})
