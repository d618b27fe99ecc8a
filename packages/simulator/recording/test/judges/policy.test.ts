import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const STABLE = 'rollouts.kruise.io/daemonset-stable-revision'
const zones: Readonly<Record<string, string>> = { a: 'east', b: 'east', c: 'west', d: 'west' }

/** The fleet over two zones, with these terms of a policy, which every process has seen. */
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
      ['overrides the smaller one of the DaemonSet', (s) => s.record({ limit: 3 }).seen().del('a1').del('b1').del('c1'), []],
      ['allows no more nodes than that', (s) => s.record({ limit: 4 }).seen().del('a1'), ['G2 a']],
    ],
    { begin: limit(3) },
  )
  judgeEach(
    'G2',
    [
      ['overrides the larger one', (s) => s.record({ epoch: 2 }).seen().del('a1'), ['G2 a']],
      [
        'may be unknown to the writer of a limit a moment later',
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

describe('nodes that died before their update', () => {
  const dead = (notReady: Fields, fields: Fields = { ready: 'Unknown' }): (() => Script) => {
    return () => under({ nodes: { notReady } }).node('d', fields).pod('d1', { ready: false }).seen().wait(2_000)
  }
  const delBoth = (s: Script): Script => s.del('a1').del('b1')
  const wait =
    (ms: number) =>
    (s: Script): Script =>
      delBoth(s.wait(ms))

  judgeEach('G1', [['do not count as down, up to a tenth of the nodes', delBoth, []]], { begin: dead({}) })
  judgeEach('G1', [['count as down if the policy exempts none', delBoth, ['G1 b']]], { begin: dead({ exempt: 0 }) })
  judgeEach(
    'G1',
    [
      [
        'are not more than exempt because of a node that died in its update, which counts as down',
        (s) => s.del('c1').node('c', { ready: 'Unknown' }).gone('c1').pod("c1'", { ready: false }).seen().wait(2_000).del('a1').del('b1'),
        ['G1 b'],
      ],
    ],
    { begin: dead({ exempt: 1 }) },
  )
  judgeEach(
    'G1',
    [
      [
        'all count as down if more are dead than the policy exempts',
        (s) => s.node('c', { ready: 'Unknown' }).pod('c1', { ready: false }).seen().wait(2_000).del('a1'),
        ['G1 a'],
      ],
      [
        'do not count if the deciding process may not have seen that more of them are dead',
        (s) => s.node('c', { ready: 'Unknown' }).pod('c1', { ready: false }).del('a1'),
        [],
      ],
      ['include those that the writer has not seen Ready again', (s) => delBoth(s.node('d', { ready: 'True' })), []],
      ['must not be Ready', (s) => delBoth(s.node('d', { ready: 'True' }).seen().wait(2_000)), ['G1 b']],
      [
        'must run a pod of the stable revision',
        (s) => delBoth(s.gone('d1').pod('d0', { hash: 'v0', ready: false }).seen().wait(2_000)),
        ['G1 b'],
      ],
      [
        'may run a pod of a revision that was the stable one a moment ago',
        (s) =>
          delBoth(
            s
              .annotate({ [STABLE]: 'v0' })
              .gone('d1')
              .pod('d0', { hash: 'v0', ready: false })
              .seen()
              .wait(2_000)
              .annotate({ [STABLE]: 'v1' }),
          ),
        [],
      ],
      [
        'may have lost their pod to another client, and get no other from a kubelet that is gone',
        (s) => delBoth(s.pod('d1', { deleting: true, ready: false }).seen().wait(2_000)),
        [],
      ],
      ['must not have lost it to us', (s) => s.del('d1').seen().wait(2_000).del('a1').del('b1'), ['G1 b']],
      [
        'must run a pod of another revision',
        (s) => delBoth(s.gone('d1').pod('d2', { hash: 'v2', ready: false }).seen().wait(2_000)),
        ['G1 b'],
      ],
    ],
    { begin: dead({ exempt: 1 }) },
  )
  const deadOnV0 = (s: Script): Script => s.gone('d1').pod('d0', { hash: 'v0', ready: false }).node('d', { ready: 'Unknown' })
  const then = (s: Script, template: string): Script => s.daemonSet({ template }).seen().wait(2_000)
  const report = (s: Script, canaryRevision: string): Script =>
    s.rollout({ status: { phase: 'Healthy', canaryStatus: { canaryRevision } } }, 'controller-1')
  const renewed = (s: Script, template: string): Script => s.daemonSet({ template, uid: 'ds-2' }).seen().wait(2_000)
  /** The DaemonSet is created again with that template, and node d dies with a pod of v0. */
  const createdAgain = (s: Script, template: string): Script => {
    const { o } = report(s, 'v1')
      .recording()
      .writes.findLast(({ kind }) => kind === 'DaemonSet')!
    s.daemonSet({}, 'user', { type: 'DELETED', verb: 'delete' })
    s.daemonSet({ ...o, uid: 'ds-2', template, generation: 1, observed: 1 })
    for (const node of 'abc') s.pod(`${node}2`, { hash: 'v0', ownerUid: 'ds-2' })
    s.pod('d0', { hash: 'v0', ready: false, ownerUid: 'ds-2' }).node('d', { ready: 'Unknown' })
    return s.record({ workloadUid: 'ds-2' })
  }
  /** The release of v1 completes without node d, and the next one begins. */
  const released = (s: Script): Script => {
    renewed(s, 'template-1')
    for (const node of 'abc') s.pod(`${node}2`, { hash: 'v1' })
    return renewed(report(s, 'v1'), 'template-2')
  }
  const naming = (s: Script, canaryRevision: string): Script =>
    s.rollout({ status: { phase: 'Progressing', canaryStatus: { canaryRevision } } }, 'controller-1')
  /** The release of v2 begins. */
  const next = (s: Script): Script => naming(then(s, 'template-2'), 'v2').seen().wait(2_000)
  const release = (s: Script, version: number, nodes = 'abcd'): Script => {
    then(s, `template-${version}`)
    for (const node of nodes) s.pod(`${node}1`, { hash: `v${version}` })
    return report(s, `v${version}`)
  }
  judgeEach(
    'G1',
    [
      ['may run a revision that was stable once', (s) => delBoth(then(deadOnV0(release(release(s, 0), 1, 'abc')), 'template-2')), []],
      [
        'may run the revision that is released, if that was stable once',
        (s) => {
          release(s, 2).gone('d1').pod('d2', { hash: 'v2', ready: false }).node('d', { ready: 'Unknown' })
          return delBoth(then(release(s, 1, 'abc'), 'template-2'))
        },
        [],
      ],
      [
        'may run the revision that is released, if that was stable once, also where the process may know no stable revision',
        (s) => {
          release(s, 2).gone('d1').pod('d2', { hash: 'v2', ready: false }).node('d', { ready: 'Unknown' })
          const begun = then(release(s, 1, 'abc').annotate({ [STABLE]: undefined }), 'template-2')
          return delBoth(begun.annotate({ [STABLE]: 'v1' }))
        },
        [],
      ],
      [
        'must not run a revision that a release brought to some nodes before it was rolled back',
        (s) => delBoth(then(report(then(deadOnV0(then(report(s, 'v1'), 'template-0')), 'template-1'), 'v1'), 'template-2')),
        ['G1 b'],
      ],
      [
        'must not run a revision whose release did not complete, also after another release',
        (s) => delBoth(then(release(deadOnV0(then(report(s, 'v1'), 'template-0')), 3, 'abc'), 'template-2')),
        ['G1 b'],
      ],
      [
        'must not run a revision that was stable once if it is released again and does not complete',
        (s) => delBoth(next(naming(deadOnV0(then(release(release(s, 0), 3), 'template-0')), 'v0'))),
        ['G1 b'],
      ],
      [
        'may run one that was stable once if it is applied again, and another template replaces it before any status names it',
        (s) => delBoth(next(deadOnV0(then(release(release(s, 0), 3), 'template-0')))),
        [],
      ],
      [
        'may run one that was stable once if its next release has not ended, although another template is applied',
        (s) => delBoth(then(naming(deadOnV0(then(release(release(s, 0), 3), 'template-0')), 'v0'), 'template-2')),
        [],
      ],
      [
        'may run the revision of a template that is replaced before the status of its new Rollout names one',
        (s) => delBoth(then(then(deadOnV0(s), 'template-0').rollout({}), 'template-2')),
        [],
      ],
      [
        'must not run the revision of one that is replaced after that',
        (s) => delBoth(next(naming(then(deadOnV0(s), 'template-0').rollout({}), 'v0'))),
        ['G1 b'],
      ],
      [
        'may run the revision of the first template of a DaemonSet that was created again',
        (s) => released(createdAgain(s, 'template-0')).del('a2').del('b2'),
        [],
      ],
      [
        'may run the revision of that first template, although a status named it',
        (s) =>
          released(naming(createdAgain(s, 'template-0'), 'v0'))
            .del('a2')
            .del('b2'),
        [],
      ],
      [
        'must not run the revision of that first template once its next release has ended',
        (s) => {
          const again = renewed(released(createdAgain(s, 'template-0')), 'template-0')
          return naming(renewed(naming(again, 'v0'), 'template-2'), 'v2')
            .seen()
            .wait(2_000)
            .del('a2')
            .del('b2')
        },
        ['G1 b'],
      ],
      [
        'must not run the revision of its second one',
        (s) =>
          released(renewed(createdAgain(s, 'template-3'), 'template-0'))
            .del('a2')
            .del('b2'),
        ['G1 b'],
      ],
      ['may run a revision that ran when its Rollout was created', (s) => delBoth(then(deadOnV0(s).rollout({}), 'template-2')), []],
      [
        'must not run the one of a release that was frozen before',
        (s) => delBoth(then(deadOnV0(s).annotate({ 'tranche.dev/frozen': '{"revision":"v0"}' }).rollout({}), 'template-2')),
        ['G1 b'],
      ],
    ],
    { begin: () => fleet({ template: 'template-1' }).revision('v0', 'template-0').revision('v3', 'template-3') },
  )
  judgeEach(
    'G1',
    [
      ['have been NotReady for five minutes if their kubelet answers', wait(290_000), ['G1 b']],
      ['do not count after five minutes of NotReady', wait(300_000), []],
    ],
    { begin: dead({}, { ready: 'False' }) },
  )
  judgeEach('G1', [['have been NotReady for as long as the policy says', wait(1_000), []]], {
    begin: dead({ after: '2s' }, { ready: 'False' }),
  })
  judgeEach('G1', [['are in maintenance, even if Ready', delBoth, []]], { begin: dead({}, { conditions: ['DrainInProgress'] }) })
  judgeEach('G1', [['have a condition that takes them out of service', delBoth, ['G1 b']]], {
    begin: dead({}, { conditions: ['DiskPressure'] }),
  })
})

describe('the node rules of a policy', () => {
  const east = { matchLabels: { zone: 'east' } }
  judgeEach(
    'G3',
    [
      ['exclude nodes from deletion', (s) => s.del('c1').del('a1'), ['G3 a']],
      ['apply once the deciding process has seen them', (s) => s.order({ spec: { tranche: { nodes: { exclude: [] } } } }).del('a1'), []],
    ],
    { begin: () => under({ nodes: { exclude: [east] } }) },
  )
  judgeEach(
    'G3',
    [
      ['let the first step update the nodes that it selects', (s) => s.record({ scope: 'rules.1' }).seen().del('c1').del('a1'), ['G3 c']],
      ['let the last step update all others', (s) => s.record({ scope: 'rules' }).seen().del('c1').del('a1'), []],
    ],
    { begin: () => under({ nodes: { steps: [east] } }) },
  )
  judgeEach(
    'G1',
    [
      ['limit the nodes in flight per topology value', (s) => s.del('a1').del('b1'), ['G1 b']],
      ['apply to each label separately', (s) => s.del('a1').del('c1'), []],
      ['allow the next node when one is available again', (s) => s.del('a1').replace('a1').del('b1'), []],
    ],
    { begin: () => under({ nodes: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] } }) },
  )
  const order = (script: Script, pods: string): Script => script.record({ epoch: 2 }, '').seen().record({}, pods, 'executor-1')
  judgeEach(
    'G5',
    [
      ['order nodes before age', (s) => order(s, 'c1 d1'), []],
      ['find a choice of other nodes first', (s) => order(s, 'a1 b1'), ['G5 a']],
      ['accept broken nodes first', (s) => order(s.pod('a1', { ready: false }).seen(), 'a1 c1'), []],
    ],
    {
      begin: () =>
        under({ nodes: { order: [{ selector: { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['east'] }] } }] } }),
    },
  )
  judgeEach(
    'G5',
    [
      ['accept the newest first', (s) => order(s, 'd1 a1'), []],
      ['find a choice of the oldest first', (s) => order(s, 'a1 b1'), ['G5 a']],
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
      ['accept a pod first that is Ready and not available yet', (s) => order(flapped(s), 'b1'), []],
      [
        'accept a pod first that was restarted in one write of its kubelet',
        (s) => order(s.pod('b1', { readyAt: '2026-01-02T00:00:40Z' }).seen().wait(1_000), 'b1'),
        [],
      ],
      ['find it before an older pod once it is available', (s) => order(flapped(s).wait(10_000), 'b1'), ['G5 b']],
      [
        'accept a pod first whose timestamps lie in the future of a writer that has had no answer since',
        (s) => order(fromTheFuture(s, 'b1'), 'b1'),
        [],
      ],
      [
        'find it once the writer has had an answer',
        (s) => order(fromTheFuture(s, 'b1').record({ epoch: 3 }, '', 'executor-1').seen(), 'b1'),
        ['G5 b'],
      ],
      [
        'accept a pod first that is not available by the current minReadySeconds',
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
  judgeEach('G5', [['ignore nodes that may not be updated', (s) => order(s, 'c1 d1'), []]], {
    begin: () => under({ nodes: { exclude: [east] } }),
  })
})
