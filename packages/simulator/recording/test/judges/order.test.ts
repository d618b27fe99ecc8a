import { describe, expect, it } from 'vitest'
import { find, fleet, judgeEach, type Script } from '../script.ts'

/** The fleet before anything is permitted, with pods that were made one after the other: `a1` is the oldest. */
function unpermitted(): Script {
  const script = fleet().record({}, '')
  for (const [age, name] of [...'abcd'].entries()) script.pod(`${name}1`, { created: `2026-01-01T00:00:0${age}Z` })
  return script.seen().wait(1)
}

/** An executor appends permits based on the events delivered so far. */
function choose(script: Script, pods: string): Script {
  return script.record({}, pods, 'executor-1')
}

describe('the order', () => {
  judgeEach(
    'G5',
    [
      ['accepts the oldest first', (s) => choose(s, 'a1 b1'), []],
      ['finds a younger pod before an older one', (s) => choose(s, 'b1'), ['G5 b']],
      ['finds permits in another order', (s) => choose(s, 'b1 a1'), ['G5 b']],
      [
        'decides by name if the age is the same',
        (s) => choose(s.pod('a1', { created: '2026-01-01T00:00:01Z' }).seen().wait(1), 'a1 b1'),
        [],
      ],
      ['finds the other name', (s) => choose(s.pod('a1', { created: '2026-01-01T00:00:01Z' }).seen().wait(1), 'b1'), ['G5 b']],
      ['accepts a superseded revision first', (s) => choose(s.pod('d1', { hash: 'v0' }).seen().wait(1), 'd1 a1'), []],
      ['finds a healthy stable pod before a superseded one', (s) => choose(s.pod('d1', { hash: 'v0' }).seen().wait(1), 'a1'), ['G5 a']],
      ['accepts unready pods before Ready ones', (s) => choose(s.pod('d1', { ready: false }).seen().wait(1), 'd1 a1'), []],
      ['finds the Ready pod first', (s) => choose(s.pod('d1', { ready: false }).seen().wait(1), 'a1 d1'), ['G5 a']],
      [
        'accepts failed, crashing, pending, not Ready in this order',
        (s) =>
          choose(
            s
              .pod('a1', { ready: false })
              .pod('b1', { ready: false, phase: 'Pending' })
              .pod('c1', { ready: false, waiting: 'CrashLoopBackOff' })
              .pod('d1', { ready: false, phase: 'Failed' })
              .seen()
              .wait(1),
            'd1 c1 b1 a1',
          ),
        [],
      ],
      [
        'finds pending before crashing',
        (s) =>
          choose(
            s.pod('c1', { ready: false, phase: 'Pending' }).pod('d1', { ready: false, waiting: 'CrashLoopBackOff' }).seen().wait(1),
            'c1',
          ),
        ['G5 c'],
      ],
      [
        'accepts an unready pod before a superseded Ready one if as many nodes as allowed are down',
        (s) => choose(s.pod('c1', { hash: 'v0' }).pod('b1', { ready: false }).pod('d1', { ready: false }).seen().wait(1), 'b1 d1'),
        [],
      ],
      [
        'finds an unready pod before a superseded Ready one if budget is left',
        (s) => choose(s.pod('c1', { hash: 'v0' }).pod('d1', { ready: false }).seen().wait(1), 'd1'),
        ['G5 d'],
      ],
      [
        'does not count a node as down for a deleted pod if another one is available',
        (s) =>
          choose(
            s
              .gone('a1')
              .pod('a2', { created: '2026-01-02T00:00:00Z' })
              .gone('b1')
              .pod('b2', { created: '2026-01-02T00:00:00Z' })
              .pod('c1', { hash: 'v0' })
              .pod('d1', { ready: false })
              .seen()
              .wait(1),
            'd1',
          ),
        ['G5 d'],
      ],
      ['ignores changes that the watch has not reported', (s) => choose(s.pod('d1', { ready: false }).wait(99), 'a1'), []],
      [
        'rejects a choice by changes that the watch has not reported',
        (s) => choose(s.pod('d1', { ready: false }).wait(99), 'd1'),
        ['G5 d'],
      ],
      ['ignores NotReady nodes', (s) => choose(s.node('a', { ready: 'False' }).seen().wait(1), 'b1'), []],
      [
        'ignores nodes in maintenance',
        (s) =>
          choose(
            s
              .node('a', { conditions: ['Drained'] })
              .seen()
              .wait(1),
            'b1',
          ),
        [],
      ],
      [
        'finds the choice of a node in maintenance',
        (s) =>
          choose(
            s
              .node('a', { conditions: ['Drained'] })
              .seen()
              .wait(1),
            'a1',
          ),
        ['G5 a'],
      ],
      [
        'finds the choice of a node whose kubelet does not answer',
        (s) => choose(s.node('a', { ready: 'Unknown' }).seen().wait(1), 'a1'),
        ['G5 a'],
      ],
      [
        'finds the choice of a NotReady node on the stable revision',
        (s) => choose(s.node('a', { ready: 'False' }).seen().wait(1), 'a1'),
        ['G5 a'],
      ],
      [
        'accepts the choice of a NotReady node on a superseded revision',
        (s) =>
          choose(
            choose(s.pod('d1', { hash: 'v0' }).node('d', { ready: 'False' }).seen().wait(1), 'd1')
              .seen()
              .wait(1),
            'd1 a1',
          ),
        [],
      ],
      [
        'accepts that a NotReady node on a superseded revision is left',
        (s) => choose(s.pod('d1', { hash: 'v0' }).node('d', { ready: 'False' }).seen().wait(1), 'a1'),
        [],
      ],
      [
        'ignores that a node is NotReady if the watch has not reported it',
        (s) => choose(s.node('a', { ready: 'Unknown' }).wait(99), 'a1'),
        [],
      ],
      [
        'ignores nodes with changes that the watch has not reported',
        (s) => choose(s.node('a', { labels: { zone: 'x' } }).wait(1), 'b1'),
        [],
      ],
      [
        'ignores undesired nodes',
        (s) =>
          choose(
            s
              .node('a', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
              .seen()
              .wait(1),
            'b1',
          ),
        [],
      ],
      ['ignores nodes with a permit', (s) => choose(s.record({}, 'a1'), 'a1 b1'), []],
      ['ignores terminating pods', (s) => choose(s.pod('a1', { deleting: true }).seen().wait(1), 'b1'), []],
      ['ignores deleted pods', (s) => choose(s.gone('a1').seen().wait(1), 'b1'), []],
      ['ignores pods of the revision being released', (s) => choose(s.pod('a1', { hash: 'v2' }).seen().wait(1), 'b1'), []],
      [
        'does not matter for permits that a new record takes over',
        (s) => s.record({ state: 'stopped' }).record({ state: 'open' }, 'b1', 'executor-1'),
        [],
      ],
      ['does not check a writer whose view was not recorded', (s) => s.record({}, 'b1', 'executor-2'), []],
    ],
    { begin: unpermitted },
  )

  it('may begin with nodes that still have a permit', () => {
    const script = unpermitted().record({}, 'd1', 'executor-2').seen().wait(1).pod('d1', { ready: true }).seen().wait(1)
    expect(find(choose(script, 'd1 a1'), { guarantees: ['G5'] })).toEqual([])
    expect(find(choose(script.record({}, '').wait(1), 'd1'), { guarantees: ['G5'] })).toHaveLength(1)
  })

  it('may be that of any moment within the reaction time', () => {
    const script = unpermitted().pod('a1', { deleting: true }).seen().wait(5).pod('d1', { ready: false }).seen().wait(5)
    choose(script, 'b1')
    expect(find(script, { guarantees: ['G5'] })).toHaveLength(1)
    expect(find(script, { guarantees: ['G5'], reactionMs: 10 })).toEqual([])
  })

  it('is not checked while the writer was stalled', () => {
    const script = choose(unpermitted(), 'b1')
    expect(find(script, { guarantees: ['G5'] })).toHaveLength(1)
    expect(find(script, { guarantees: ['G5'], stalls: [{ actor: 'executor-1', fromMs: script.nowMs - 5, toMs: script.nowMs }] })).toEqual(
      [],
    )
  })
})
