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

const stepsBy = (selectors: readonly Fields[], fields: Fields = {}): Fields => ({
  spec: { strategy: { canary: { steps: selectors.map((nodes) => ({ nodes, pause: { duration: 0 }, ...fields })) } } },
})
/** Spec of a policy that excludes other nodes than before. */
const other: Fields = { nodes: { exclude: [{ matchLabels: { pool: 'gpu' } }] } }
const bound = { 'tranche.dev/rollout': 'agent' }
const action = (id: string, fields: Fields): Fields => ({
  metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id, ...fields }) } },
})
const jump = action('j', { type: 'jump', step: 2 })
const named = (policy: string): Fields => ({ metadata: { annotations: { 'tranche.dev/release-policy': policy } } })

/** A fleet of v1 with a Rollout of these steps; a is dead and not wanted, and others have deleted its pod. */
function before(canary: Fields = dead(), selectors: readonly Fields[] = steps): Script {
  const script = fleet({ template: 'template-1' })
  for (const [name, pool] of Object.entries(pools)) script.node(name, { labels: { pool } })
  return script
    .node('a', canary)
    .gone('a1')
    .rollout({ ...stepsBy(selectors), ...named('careful') })
}

/** A release of v2, of which these programs have seen what these watches report. */
function release(script: Script, rules: Fields = { steps }): Script {
  return script
    .daemonSet({ template: 'template-2' })
    .order({ spec: { tranche: { release: 'r2', nodes: rules } } })
    .record({ scope: 'rules.2' })
}

const rejoined = (script: Script): Script => script.removeNode('a').node('a', dead())

/** A release of v2 to node a first, then to the others. */
function begun(canary: Fields = dead(), rules: Fields = { steps }): Script {
  return release(before(canary), rules).seen().wait(2_000)
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
      [
        'waits for one that joined before the DaemonSet was created again',
        (s) =>
          rejoined(s)
            .daemonSet({}, 'user', { type: 'DELETED' })
            .daemonSet({ generation: 1, observed: 1, placement: {}, template: 'template-2' })
            .pod('b1')
            .record({ scope: 'rules.2' })
            .seen()
            .wait(2_000)
            .del('b1'),
        ['G3 b'],
      ],
      ['does not wait for one that is deleted and joins again', (s) => rejoined(s).seen().del('b1'), []],
      ['is updated after a user has changed the exclusions of the policy', (s) => s.policy('careful', 1, {}, other).seen().del('b1'), []],
      [
        'is updated after a user has deleted the policy and its exclusions',
        (s) => s.policy('careful', 1, { actor: 'controller-1' }, other).policy('careful', 1, { type: 'DELETED' }, other).seen().del('b1'),
        [],
      ],
      ['waits although a user has changed the budget of the policy', (s) => s.policy('careful', 1).seen().del('b1'), ['G3 b']],
      [
        'waits although a user has changed the budget of a policy with exclusions',
        (s) => s.policy('careful', 1, { actor: 'controller-1' }, other).policy('careful', 2, {}, other).seen().del('b1'),
        ['G3 b'],
      ],
      ['waits although a user has changed another policy', (s) => s.policy('bold', 1, {}, other).seen().del('b1'), ['G3 b']],
      [
        'waits although a user has changed a policy of that name in another namespace',
        (s) => s.policy('careful', 1, { namespace: 'other' }, other).seen().del('b1'),
        ['G3 b'],
      ],
      [
        'waits although Tranche has written the policy',
        (s) => s.policy('careful', 1, { actor: 'controller-1' }, other).seen().del('b1'),
        ['G3 b'],
      ],
      [
        'waits although a user has changed the pause of a step',
        (s) =>
          s
            .rollout(stepsBy(steps, { pause: { duration: 1 } }))
            .seen()
            .del('b1'),
        ['G3 b'],
      ],
      ['is updated after a user has chosen another policy', (s) => s.rollout(named('bold')).seen().del('b1'), []],
      [
        'waits although Tranche drops the steps from its copy',
        (s) =>
          s
            .order({ spec: { tranche: { nodes: { steps: undefined } } } })
            .seen()
            .del('b1'),
        ['G3 b'],
      ],
      [
        'waits although Tranche says in the status that the next step begins',
        (s) =>
          s
            .rollout({ status: { canaryStatus: { nextStepIndex: 2 } } }, 'controller-1')
            .seen()
            .del('b1'),
        ['G3 b'],
      ],
      [
        'is updated for another version than that of the release',
        (s) => s.revision('v3', 'template-3').record({ revision: 'v3' }).seen().del('b1'),
        [],
      ],
      ['is updated without a Rollout', (s) => s.rollout({}, 'user', { type: 'DELETED' }).seen().del('b1'), []],
      [
        'is updated after the Rollout was created again',
        (s) => s.rollout({}, 'user', { type: 'DELETED' }).rollout(stepsBy(steps)).seen().del('b1'),
        [],
      ],
      [
        'is updated after the Rollout was enabled again',
        (s) =>
          s
            .rollout({ spec: { disabled: true } })
            .rollout({ spec: { disabled: false } })
            .seen()
            .del('b1'),
        [],
      ],
      [
        'is updated while the Rollout is being deleted',
        (s) =>
          s
            .rollout({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
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
      ['is updated after a jump by action', (s) => s.rollout(jump).seen().del('b1'), []],
      [
        'waits after a promotion, which skips pauses alone',
        (s) =>
          s
            .rollout(action('p', { type: 'promote' }))
            .seen()
            .del('b1'),
        ['G3 b'],
      ],
      [
        'is updated after a user has changed the steps',
        (s) =>
          s
            .rollout(stepsBy([...steps, {}]))
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
  const begins: readonly (readonly [name: string, begin: () => Script, watches?: readonly string[]])[] = [
    ['is updated where a user has tainted the first node, too', () => begun(dead('gpu'))],
    ['is updated where the policy excludes the first node', () => begun(dead(), { steps, exclude: [steps[0]] })],
    [
      'may be one of the same step',
      () =>
        release(before(dead(), [{}]))
          .seen()
          .wait(2_000),
    ],
    [
      'is updated after another Rollout has taken over',
      () =>
        release(before().conflicting('other').annotate({ 'tranche.dev/rollout': 'other' }))
          .annotate(bound)
          .seen()
          .wait(2_000),
    ],
    ['is updated where no step selects nodes', () => release(before(dead(), [])).seen().wait(2_000)],
    [
      'is updated where a user changed the steps a moment before the release',
      () =>
        release(before(dead(), [{}]).rollout(stepsBy(steps)))
          .seen()
          .wait(2_000),
    ],
    [
      'is updated where the watch had not reported that the first node was relabelled',
      () =>
        release(
          before({ ...dead(), labels: { pool: 'rest' } })
            .seen()
            .node('a', dead()),
        )
          .seen('executor-1', ['pods', 'daemonsets'])
          .wait(2_000),
      ['pods', 'daemonsets'],
    ],
  ]
  for (const [name, begin, watches] of begins) judgeEach('G3', [[name, (s) => s.seen('executor-1', watches).del('b1'), []]], { begin })
  judgeEach(
    'G3',
    [
      [
        'waits although an action of an earlier release had jumped',
        (s) =>
          s
            .rollout({ spec: { disabled: false } })
            .seen()
            .del('b1'),
        ['G3 b'],
      ],
    ],
    {
      begin: () => release(before().rollout(jump)).seen().wait(2_000),
    },
  )
  const waits: readonly (readonly [name: string, begin: () => Script])[] = [
    [
      'waits where a user changed the steps with another pause together with the template',
      () => release(before().rollout(stepsBy(steps, { pause: { duration: 1 } }))),
    ],
    ['waits where a user added a step together with the template', () => release(before(dead(), [...steps, {}]).rollout(stepsBy(steps)))],
    [
      'waits where a user creates a conflicting Rollout without selectors after the release began',
      () => release(before().annotate(bound)).conflicting('other'),
    ],
    ['waits where a conflicting Rollout has no selectors', () => release(before().annotate(bound).conflicting('other'))],
  ]
  for (const [name, begin] of waits)
    judgeEach('G3', [[name, (s) => s.seen().del('b1'), ['G3 b']]], { begin: () => begin().seen().wait(2_000) })
  judgeEach('G3', [['waits where a user changed the steps long before the release', (s) => s.seen().del('b1'), ['G3 b']]], {
    begin: () =>
      release(before(dead(), [{}]).rollout(stepsBy(steps)).wait(60_000))
        .seen()
        .wait(2_000),
  })
  judgeEach(
    'G3',
    [
      ['does not wait for a node that joins later', (s) => s.node('e', dead()).seen().del('b1'), []],
      ['waits for none where the first step has no node', (s) => s.seen().del('b1'), []],
    ],
    { begin: () => begun({ labels: { pool: 'rest' } }) },
  )
})
