import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const UNREACHABLE = 'node.kubernetes.io/unreachable'
const pools: Readonly<Record<string, string>> = { a: 'canary', b: 'rest', c: 'rest', d: 'rest' }
const steps = [{ matchLabels: { pool: 'canary' } }, { matchLabels: { pool: 'rest' } }]

const dead = (...keys: readonly string[]): Fields => ({
  labels: { pool: 'canary' },
  ready: 'Unknown',
  taints: [UNREACHABLE, ...keys].map((key) => ({ key, effect: 'NoSchedule' })),
})

/** A release of v2 to node a first, then to the others; a is dead and not wanted, and others have deleted its pod. */
function begun(canary: Fields = dead(), rules: Fields = { steps }): Script {
  const script = fleet({ template: 'template-1' })
  for (const [name, pool] of Object.entries(pools)) script.node(name, { labels: { pool } })
  return script
    .node('a', canary)
    .gone('a1')
    .rollout({})
    .daemonSet({ template: 'template-2' })
    .order({ spec: { tranche: { release: 'r2', nodes: rules } } })
    .record({ scope: 'rules.2' })
    .seen()
    .wait(2_000)
}

describe('a node of a later step', () => {
  judgeEach(
    'G3',
    [
      ['waits for the dead node of the first one', (s) => s.seen().del('b1'), ['G3 b']],
      [
        'waits for it where it is back, and its taint is not gone',
        (s) =>
          s
            .node('a', { ...dead(), ready: 'True' })
            .seen()
            .del('b1'),
        ['G3 b'],
      ],
      [
        'waits for it where it is wanted and not updated',
        (s) =>
          s
            .node('a', { ...dead(), taints: [] })
            .seen()
            .del('b1'),
        ['G3 b'],
      ],
      [
        'is updated once the first one has a Ready pod',
        (s) =>
          s
            .node('a', { ...dead(), taints: [], ready: 'True' })
            .pod('a2', { hash: 'v2' })
            .seen()
            .del('b1'),
        [],
      ],
      [
        'waits where that pod has never been Ready',
        (s) =>
          s
            .node('a', { ...dead(), taints: [] })
            .pod('a2', { hash: 'v2', ready: false })
            .seen()
            .del('b1'),
        ['G3 b'],
      ],
      ['is updated once any wanted node has a Ready pod', (s) => s.gone('c1').pod('c2', { hash: 'v2' }).seen().del('b1'), []],
      ['is updated where the first node is deleted', (s) => s.removeNode('a').seen().del('b1'), []],
      ['does not wait for one that is deleted and joins again', (s) => s.removeNode('a').node('a', dead()).seen().del('b1'), []],
      [
        'is updated after the policy has changed',
        (s) =>
          s
            .order({ spec: { tranche: { nodes: { spread: [] } } } })
            .seen()
            .del('b1'),
        [],
      ],
      [
        'is updated after a jump',
        (s) =>
          s
            .rollout({ status: { canaryStatus: { nextStepIndex: 2 } } })
            .seen()
            .del('b1'),
        [],
      ],
      [
        'is updated after a jump by action',
        (s) =>
          s
            .rollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"j","type":"jump","step":2}' } } })
            .seen()
            .del('b1'),
        [],
      ],
      [
        'waits after a promotion, which skips pauses alone',
        (s) =>
          s
            .rollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"p","type":"promote"}' } } })
            .seen()
            .del('b1'),
        ['G3 b'],
      ],
      [
        'is updated after a user has changed the steps',
        (s) =>
          s
            .rollout({ spec: { strategy: { canary: { steps: [{ replicas: '100%' }] } } } })
            .seen()
            .del('b1'),
        [],
      ],
      [
        'is updated once the Rollout is disabled',
        (s) =>
          s
            .rollout({ spec: { disabled: true } })
            .seen()
            .del('b1'),
        [],
      ],
    ],
    { begin: () => begun() },
  )
  const begins: readonly (readonly [name: string, begin: () => Script])[] = [
    ['is updated where a user has tainted the first node, too', () => begun(dead('gpu'))],
    ['is updated where the policy excludes the first node', () => begun(dead(), { steps, exclude: [steps[0]] })],
    ['may be one of the same step', () => begun(dead(), { steps: [{}] })],
    ['is updated where no step selects nodes', () => begun(dead(), {})],
  ]
  for (const [name, begin] of begins) judgeEach('G3', [[name, (s) => s.seen().del('b1'), []]], { begin })
  judgeEach(
    'G3',
    [
      ['does not wait for a node that joins later', (s) => s.node('e', dead()).seen().del('b1'), []],
      ['waits for none where the first step has no node', (s) => s.seen().del('b1'), []],
    ],
    { begin: () => begun({ labels: { pool: 'rest' } }) },
  )
})
