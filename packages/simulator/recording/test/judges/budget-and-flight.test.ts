import { describe, expect, it } from 'vitest'
import { find, fleet, judgeEach, type Script } from '../script.ts'

/** The pod of node c was not Ready for a moment, and its status says that it has been Ready for `ms`. */
function readyAgain(script: Script, ms: number, isSeen: boolean): Script {
  script.wait(60_000).pod('c1', { ready: false })
  if (isSeen) script.seen()
  const readyAt = new Date(script.nowMs - ms).toISOString()
  return script.pod('c1', { ready: true, readyAt }).seen().wait(1).del('a1').del('b1')
}

/** As {@link readyAgain}, seen, while node c was tainted. */
function desiredAgain(script: Script): Script {
  const away = script
    .wait(60_000)
    .node('c', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
    .pod('c1', { ready: false })
    .seen()
  const readyAt = new Date(script.nowMs - 60_000).toISOString()
  return away.pod('c1', { ready: true, readyAt }).seen().node('c', { taints: [] }).seen().wait(1).del('a1').del('b1')
}

describe('the budget, with minReadySeconds', () => {
  judgeEach(
    'G1',
    [
      ['counts a node whose pod has been Ready again for less', (s) => readyAgain(s, 0, true), ['G1 b']],
      ['counts it, whatever the status says, where the watch reported that it was not Ready', (s) => readyAgain(s, 60_000, true), ['G1 b']],
      ['does not count it by its status, where a list took the watch past that', (s) => readyAgain(s, 60_000, false), []],
      ['counts it where such a list says that it has been Ready for less', (s) => readyAgain(s, 0, false), ['G1 b']],
      ['counts it where it is down because it is desired again, whatever the status says', desiredAgain, ['G1 b']],
    ],
    { begin: () => fleet({ minReadySeconds: 20 }) },
  )
})

describe('the budget', () => {
  judgeEach('G1', [
    ['allows as many deletions of Ready pods as the limit', (s) => s.del('a1').del('b1'), []],
    ['finds one more than the limit', (s) => s.del('a1').del('b1').del('c1'), ['G1 c']],
    [
      'counts a node that another actor broke once the watch has reported it',
      (s) => s.pod('c1', { ready: false }).seen().wait(1).del('a1').del('b1'),
      ['G1 b'],
    ],
    ...[false, true].map((isSeen): [string, (s: Script) => Script, readonly string[]] => [
      `counts a node that another actor broke ${isSeen ? 'where' : 'only where'} a watch has reported that it is desired`,
      (s) => {
        if (isSeen) s.node('e').seen()
        else s.node('e')
        const broken = s.pod('e1').pod('e1', { ready: false }).seen('executor-1', ['pods', 'daemonsets'])
        return broken.wait(1).del('a1').del('b1')
      },
      isSeen ? ['G1 b'] : [],
    ]),
    ['does not count it before the watch has reported it', (s) => s.pod('c1', { ready: false }).wait(3_600_000).del('a1').del('b1'), []],
    [
      'does not count it when the watch reports it at the same moment',
      (s) => s.del('a1').pod('c1', { ready: false }).seen().wait(-1).del('b1'),
      [],
    ],
    [
      'counts it when the watch reported it a moment before',
      (s) => s.del('a1').pod('c1', { ready: false }).seen().wait(0).del('b1'),
      ['G1 b'],
    ],
    [
      'ignores changes on a watch of the same actor that has not reported them',
      (s) => s.pod('c1', { ready: false }).seen('executor-1', ['nodes']).wait(9).del('a1').del('b1'),
      [],
    ],
    ['reads the watch of the deleting process', (s) => s.pod('c1', { ready: false }).seen('executor-2').wait(9).del('a1').del('b1'), []],
    [
      "counts Tranche's own deletions without any report by a watch",
      (s) => s.del('a1').del('b1', { actor: 'executor-2' }).del('c1', { actor: 'executor-3' }),
      ['G1 c'],
    ],
    ['is free again when another pod of the node is Ready', (s) => s.del('a1').del('b1').replace('a1').seen().wait(1).del('c1'), []],
    [
      'allows deleting a pod that is not Ready, whatever else is down',
      (s) =>
        s
          .pod('a1', { ready: false })
          .pod('b1', { ready: false })
          .pod('c1', { ready: false })
          .record({}, 'a1 b1 c1')
          .seen()
          .wait(9)
          .del('a1'),
      [],
    ],
    [
      'counts a node twice that is down twice',
      (s) => s.pod('a1', { ready: false }).record({}, 'a1').seen().wait(1).del('a1').del('b1'),
      [],
    ],
    [
      'ignores a request that was sent before',
      (s) =>
        s
          .del('a1')
          .pod('c1', { ready: false })
          .seen()
          .wait(500)
          .del('b1', { sent: s.nowMs - 501 }),
      [],
    ],
    ['counts a node whose pod another actor evicted', (s) => s.gone('c1').seen().wait(1).del('a1').del('b1'), ['G1 b']],
    [
      'does not count an undesired node',
      (s) =>
        s
          .node('c', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
          .pod('c1', { ready: false })
          .seen()
          .wait(1)
          .del('a1')
          .del('b1'),
      [],
    ],
    ['counts a node that joins without a pod', (s) => s.node('e').seen().wait(1).del('a1').del('b1'), ['G1 b']],
    ['does not count that node before the watch has reported it', (s) => s.node('e').wait(99).del('a1').del('b1'), []],
  ])

  it('does not blame a process that has been frozen since', () => {
    const script = fleet().del('a1')
    const fromMs = script.nowMs
    script.pod('c1', { ready: false }).seen().wait(40_000).del('b1')
    expect(find(script, { guarantees: ['G1'] })).toHaveLength(1)
    expect(find(script, { guarantees: ['G1'], stalls: [{ actor: 'executor-1', fromMs, toMs: script.nowMs }] })).toEqual([])
    expect(find(script, { guarantees: ['G1'], stalls: [{ actor: 'executor-2', fromMs, toMs: script.nowMs }] })).toHaveLength(1)
  })

  it('allows for the reaction time', () => {
    const script = fleet().del('a1').pod('c1', { ready: false }).seen().wait(20).del('b1')
    expect(find(script, { guarantees: ['G1'], reactionMs: 20 })).toHaveLength(1)
    expect(find(script, { guarantees: ['G1'], reactionMs: 22 })).toEqual([])
  })
})

const soon = { minReadySeconds: 5 }

describe('nodes in flight', () => {
  judgeEach('G2', [
    ['are as many as the limit', (s) => s.del('a1').del('b1'), []],
    ['are found when they are more', (s) => s.del('a1').del('b1').del('c1'), ['G2 c']],
    [
      'are counted though no pod was Ready',
      (s) => s.pod('a1', { ready: false }).pod('b1', { ready: false }).pod('c1', { ready: false }).del('a1').del('b1').del('c1'),
      ['G2 c'],
    ],
    ['are counted once, however often Tranche deletes there', (s) => s.del('a1').replace('a1', { ready: false }).del("a1'").del('b1'), []],
    ['stay so while the new pod is not Ready', (s) => s.del('a1').del('b1').replace('a1', { ready: false }).del('c1'), ['G2 c']],
    [
      'stay so while the only Ready pod is one that Tranche deleted',
      (s) => s.del('a1').del('b1').pod('a1', { ready: true }).del('c1'),
      ['G2 c'],
    ],
    [
      'settle for good when another pod was available once',
      (s) => s.del('a1').del('b1').replace('a1').pod("a1'", { ready: false }).del('c1'),
      [],
    ],
    [
      'are forgotten when the node is no longer desired',
      (s) =>
        s
          .del('a1')
          .del('b1')
          .node('a', { taints: [{ key: 'gpu', effect: 'NoExecute' }] })
          .del('c1'),
      [],
    ],
    ['are forgotten when the node leaves and returns', (s) => s.del('a1').del('b1').removeNode('a').node('a').del('c1'), []],
    [
      'do not grow if Tranche deletes where another actor removed the permitted pod',
      (s) => s.del('a1').del('b1').gone('c1').pod('c2', { ready: false }).record({}, 'c2').del('c2'),
      [],
    ],
    [
      'do not grow if that permit was lost by a write of another client, and is restored',
      (s) =>
        s
          .del('a1')
          .del('b1')
          .record({}, 'a1 b1 c1')
          .release('agent')
          .gone('c1')
          .seen('controller-1')
          .wait(100)
          .pod('c2', { ready: false })
          .record({ limit: 2 }, 'a1 b1 c1')
          .record({}, 'a1 b1 c1 c2')
          .del('c2'),
      [],
    ],
    [
      'grow if the record was gone with its BatchRelease',
      (s) =>
        s
          .del('a1')
          .del('b1')
          .record({}, 'a1 b1 c1')
          .order({}, { actor: 'garbage-collector', type: 'DELETED' })
          .gone('c1')
          .seen('controller-1')
          .wait(100)
          .pod('c2', { ready: false })
          .record({ limit: 2 }, 'a1 b1 c2')
          .del('c2'),
      ['G2 c'],
    ],
    [
      'do not grow if the permit was written after that pod was gone, by a process without a report of it',
      (s) =>
        s.record({}, 'a1 b1').del('a1').del('b1').gone('c1').record({}, 'c1').pod('c2', { ready: false }).record({}, 'c1 c2').del('c2'),
      [],
    ],
    [
      'grow if the writer of that permit had a report that the pod was gone',
      (s) =>
        s
          .record({}, 'a1 b1')
          .del('a1')
          .del('b1')
          .gone('c1')
          .seen('controller-1')
          .wait(100)
          .record({}, 'c1')
          .pod('c2', { ready: false })
          .record({}, 'c1 c2')
          .del('c2'),
      ['G2 c'],
    ],
    [
      'grow if that node had an available pod before the permit was written',
      (s) => s.del('a1').del('b1').gone('c1').pod('c2').pod('c2', { ready: false }).record({}, 'c1 c2').del('c2'),
      ['G2 c'],
    ],
    [
      'grow if Tranche deletes where another actor removed another pod',
      (s) => s.record({}, 'a1 b1').del('a1').del('b1').gone('c1').pod('c2', { ready: false }).record({}, 'c2').del('c2'),
      ['G2 c'],
    ],
    [
      'grow if that node had an available pod since',
      (s) => s.del('a1').del('b1').gone('c1').pod('c2').pod('c2', { ready: false }).record({}, 'c2').del('c2'),
      ['G2 c'],
    ],
    [
      'allow no other node in addition',
      (s) => s.del('a1').del('b1').gone('c1').pod('c2', { ready: false }).record({}, 'c2 d1').del('c2').replace('a1').del('d1'),
      ['G2 d'],
    ],
    ['never begin on a node that is gone', (s) => s.removeNode('a').del('a1').del('b1').del('c1'), []],
    ['may reach the largest limit since the oldest one began', (s) => s.record({ limit: 1 }).del('a1').del('b1'), []],
    [
      'may not reach a limit that was lowered before the oldest one began',
      (s) => s.record({ limit: 1 }, '').pod('a1').pod('b1').record({}, 'a1 b1').del('a1').del('b1'),
      ['G2 b'],
    ],
    ['need a declared limit', (s) => s.record({ limit: 3 }).del('a1'), ['G2 a']],
    [
      'may have a limit that was declared as far as its writer could know',
      (s) =>
        s
          .daemonSet({ strategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } } })
          .record({ limit: 2, epoch: 2 })
          .del('a1'),
      [],
    ],
    [
      'may not have it once its writer had the report',
      (s) =>
        s
          .daemonSet({ strategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } } })
          .seen('controller-1')
          .wait(1)
          .record({ limit: 2, epoch: 2 }, '')
          .wait(1)
          .record({}, 'a1')
          .del('a1'),
      ['G2 a'],
    ],
  ])

  describe('with a percentage of the wanted nodes', () => {
    judgeEach(
      'G2',
      [
        ['round up', (s) => s.record({ limit: 2 }).del('a1'), []],
        ['are no more than the percentage', (s) => s.record({ limit: 3 }).del('a1'), ['G2 a']],
        ['grow with the nodes', (s) => s.node('e').node('f').seen('controller-1').record({ limit: 2 }).del('a1'), []],
        [
          'shrink with the desired nodes',
          (s) => s.removeNode('b').removeNode('c').removeNode('d').seen('controller-1').wait(1).record({ limit: 2, epoch: 2 }).del('a1'),
          ['G2 a'],
        ],
        [
          'do not shrink before the watch has reported it',
          (s) => s.removeNode('b').removeNode('c').removeNode('d').wait(1).record({ limit: 2, epoch: 2 }).del('a1'),
          [],
        ],
      ],
      { begin: () => fleet({ strategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: '26%' } } }) },
    )
  })

  describe('with minReadySeconds', () => {
    judgeEach(
      'G2',
      [
        ['stay in flight for that long', (s) => s.del('a1').del('b1').replace('a1').wait(4_997).del('c1'), ['G2 c']],
        ['settle after it', (s) => s.del('a1').del('b1').replace('a1').wait(4_999).del('c1'), []],
        [
          'restart when the pod was not Ready for a moment',
          (s) =>
            s.del('a1').del('b1').replace('a1').pod("a1'", { ready: false }).wait(3_000).pod("a1'", { ready: true }).wait(3_000).del('c1'),
          ['G2 c'],
        ],
        [
          'settle sooner when it is lowered',
          (s) => s.del('a1').del('b1').replace('a1').wait(1_000).daemonSet({ minReadySeconds: 1, generation: 2 }).del('c1'),
          [],
        ],
        [
          'do not settle later for pods that were Ready when it was raised',
          (s) =>
            s
              .del('a1')
              .del('b1')
              .replace('a1')
              .daemonSet({ minReadySeconds: 60, generation: 2 })
              .record({ generation: 2 })
              .wait(5_000)
              .del('c1'),
          [],
        ],
        [
          'settle later for newer pods',
          (s) =>
            s
              .del('a1')
              .del('b1')
              .daemonSet({ minReadySeconds: 60, generation: 2 })
              .record({ generation: 2 })
              .replace('a1')
              .wait(6_000)
              .del('c1'),
          ['G2 c'],
        ],
        [
          'do not settle later while the record has the previous generation',
          (s) => s.del('a1').del('b1').daemonSet({ minReadySeconds: 60, generation: 2 }).replace('a1').wait(6_000).del('c1'),
          [],
        ],
      ],
      { begin: () => fleet(soon).wait(60_000) },
    )
  })
})
