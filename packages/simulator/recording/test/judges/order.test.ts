import { describe, expect, it } from 'vitest'
import { type Fields, find, fleet, judgeEach, type Script } from '../script.ts'

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

/** A user deletes the DaemonSet. */
/** Node a has a Ready pod of 30 `minReadySeconds`, which were 0 when the record opened; c runs a superseded revision, and d is not Ready. */
function readyAgo(script: Script, ms: number): Script {
  return script
    .pod('a1', { ready: false })
    .pod('c1', { hash: 'v0' })
    .pod('d1', { ready: false })
    .daemonSet({ minReadySeconds: 30, generation: 2, observed: 2 })
    .seen()
    .wait(40_000)
    .pod('a1', { ready: true })
    .seen()
    .wait(ms)
}

function goneUnseen(script: Script): Script {
  return script.daemonSet({}, 'user', { type: 'DELETED', verb: 'delete' })
}

const MINUTE = 60_000

/** A controller names the revision that is released. */
function named(script: Script, canaryRevision: string): Script {
  return script.rollout({ status: { canaryStatus: { canaryRevision } } }, 'controller-1')
}

/** Another pod is on node a or waits for it, and the executor chooses node b. */
function beside(room: string, fields: Fields = {}, options: Fields = {}): (script: Script) => Script {
  return (script) => choose(asking(script, room).other(fields, options).seen().wait(1), 'b1')
}

function asking(script: Script, room: string): Script {
  return script.order({ spec: { tranche: { nodes: { room } } } })
}

/** The policy says what to do about Leases of nodes, and another program, or this holder, has that of a node. */
function locking(script: Script, nodeLock: string, node: string, holder = 'node-maintenance'): Script {
  return script.order({ spec: { tranche: { downtime: { nodeLock } } } }).lease(node, holder)
}

const usesAgent = { matchLabels: { uses: 'agent' } }

/** The policy says which pods must leave a node first. */
function draining(script: Script, drain: Fields = {}): Script {
  return script.order({ spec: { tranche: { drain: { consumers: [{ selector: usesAgent }], timeout: '2m', ...drain } } } })
}

/** A pod that uses the agent was on node a until `ago`, and the executor chooses node b. */
function afterConsumer(ago: number, drain: Fields, labels: Fields = usesAgent.matchLabels): (script: Script) => Script {
  return (script) => choose(draining(script, drain).other({ labels }).other({ labels, phase: 'Succeeded' }).seen().wait(ago), 'b1')
}

const consumers = '/api/v1/pods?fieldSelector=spec.nodeName%3Da'

/** A request of the executor fails, and some time later it chooses node b. */
function afterFailure(path: string, { ago = MINUTE, method = 'GET', actor = 'executor-1' } = {}): (script: Script) => Script {
  return (script) => choose(draining(script).fails(method, path, actor).seen().wait(ago), 'b1')
}

/** Node a was updated with a limit of downtime, `minReadySeconds` was raised meanwhile, and the executor chooses node b in the next release. */
function afterUpdate(perDay: string, minReadySeconds: number): (script: Script) => Script {
  return (script) => {
    const limited = script.order({ spec: { tranche: { downtime: { perDay } } } }).record({}, 'a1')
    const updated = limited.seen().wait(1).del('a1').daemonSet({ minReadySeconds, generation: 2, observed: 2 }).wait(1_000)
    const back = updated.replace('a1', { hash: 'v1', created: '2026-01-01T00:00:00Z' }).record({}, '')
    for (const ms of [31_000, 30_000, 3 * MINUTE]) back.wait(ms).other({})
    return choose(back.seen().wait(1), 'b1')
  }
}

/** Node a was updated with a limit of downtime of two minutes, and is soon available, for four minutes under these definitions. */
function afterDefinitions(...members: readonly string[]): (script: Script) => Script {
  return (script) => {
    const limited = script.order({ spec: { tranche: { downtime: { perDay: '2m' } } } }).record({}, 'a1')
    const back = limited.seen().wait(1).del('a1').wait(1_000).replace('a1', { hash: 'v1', created: '2026-01-01T00:00:00Z' })
    back.definition(...members)
    for (const ms of [31_000, 30_000, 3 * MINUTE]) back.wait(ms).other({})
    return choose(back.definition('phase', 'flight').record({}, '').seen().wait(1), 'b1')
  }
}

/** The Lease of node a is held by another program, renewed this long ago by a clock that has been set back by nine minutes. */
function lockedSetBack(ago: number): (script: Script) => Script {
  return (script) => {
    script
      .order({ spec: { tranche: { downtime: { nodeLock: 'Take' } } } })
      .wait(3 * MINUTE)
      .lease('a', 'node-maintenance', {}, -9 * MINUTE)
    return choose(script.wait(ago).seen().wait(1), 'b1')
  }
}

/** Node a was updated with a limit of downtime of five minutes, and was tainted for ten minutes before the agent was back. */
function afterTaint(script: Script): Script {
  const limited = script.order({ spec: { tranche: { downtime: { perDay: '5m' } } } }).record({}, 'a1')
  const tainted = limited
    .seen()
    .wait(1)
    .del('a1')
    .wait(1_000)
    .node('a', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
  const back = tainted
    .wait(1)
    .other({})
    .wait(10 * MINUTE)
    .node('a', { taints: [] })
    .replace('a1', { hash: 'v1', created: '2026-01-01T00:00:00Z' })
    .record({}, '')
  for (const ms of [1_000, 3 * MINUTE]) back.wait(ms).other({})
  return choose(back.seen().wait(1), 'b1')
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
      [
        'accepts a superseded revision first, also where the DaemonSet is gone, which the writer has not seen',
        (s) => choose(goneUnseen(s.pod('d1', { hash: 'v0' }).seen().wait(1)), 'd1 a1'),
        [],
      ],
      [
        'finds a healthy stable pod before a superseded one, where the DaemonSet is gone, which the writer has not seen',
        (s) => choose(goneUnseen(s.pod('d1', { hash: 'v0' }).seen().wait(1)), 'a1'),
        ['G5 a'],
      ],
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
      ['accepts unready pods first where others may not be Ready for long enough yet', (s) => choose(readyAgo(s, 29_000), 'd1'), []],
      ['finds them where the others have been Ready for long enough', (s) => choose(readyAgo(s, 31_000), 'd1'), ['G5 d']],
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
        'accepts a healthy stable pod before one of a revision that was stable once',
        (s) => {
          s.revision('v0', 'template-0').pod('d1', { hash: 'v0' }).rollout({})
          return choose(s.seen().wait(1), 'a1')
        },
        [],
      ],
      [
        'accepts a healthy stable pod before one of a revision that came up after the Rollout was created and before its first release',
        (s) => {
          s.revision('v0', 'template-0').rollout({}).pod('d1', { hash: 'v0' })
          s.rollout({ status: { phase: 'Initial' } }, 'controller-1')
          return choose(named(s, 'v2').seen().wait(1), 'a1')
        },
        [],
      ],
      [
        'finds a pod of a revision that came up after the first release had begun before a healthy stable one',
        (s) => {
          s.revision('v0', 'template-0')
            .rollout({})
            .rollout({ status: { phase: 'Initial' } }, 'controller-1')
          return choose(named(s, 'v2').pod('d1', { hash: 'v0' }).seen().wait(1), 'a1')
        },
        ['G5 a'],
      ],
      [
        'accepts a superseded pod before one of a revision that ran when the Rollout was created, though its own had run before that',
        (s) => {
          s.revision('v0', 'template-0').revision('v5', 'template-5').pod('d1', { hash: 'v0' }).pod('c1', { hash: 'v5' }).gone('c1')
          s.rollout({}).pod('c2', { hash: 'v5', created: '2026-01-02T00:00:00Z' })
          return choose(s.seen().wait(1), 'c2')
        },
        [],
      ],
      [
        'accepts, and knows, a revision that counts as former no longer, whether the writer has seen that or not',
        (s) => {
          // v0 and v5 run when the Rollout is created; v5 is released again, and rolled back.
          s.revision('v0', 'template-0').revision('v5', 'template-5').pod('c1', { hash: 'v0' }).pod('d1', { hash: 'v5' })
          named(s.daemonSet({ template: 'template-5' }).rollout({}), 'v5')
          return choose(named(s.seen().wait(1).daemonSet({ template: 'template-1' }), 'v1'), 'd1 a1')
        },
        [],
      ],
      [
        'finds a pod of a revision that was stable once before a healthy stable one, though its template was applied and replaced',
        (s) => {
          s.revision('v0', 'template-0').revision('v5', 'template-5').pod('c1', { hash: 'v0' }).pod('d1', { hash: 'v5' })
          named(s.daemonSet({ template: 'template-1' }).rollout({}), 'v1').daemonSet({ template: 'template-5' })
          return choose(s.daemonSet({ template: 'template-2' }).seen().wait(1), 'd1')
        },
        ['G5 d'],
      ],
      [
        'accepts a healthy stable pod before it then',
        (s) => {
          s.revision('v0', 'template-0').revision('v5', 'template-5').pod('c1', { hash: 'v0' }).pod('d1', { hash: 'v5' })
          named(s.daemonSet({ template: 'template-1' }).rollout({}), 'v1').daemonSet({ template: 'template-5' })
          return choose(s.daemonSet({ template: 'template-2' }).seen().wait(1), 'a1')
        },
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

  judgeEach(
    'G5',
    [
      [
        'passes over a node whose Lease another program holds, where the policy takes it',
        (s) => choose(locking(s, 'Take', 'a').seen().wait(1), 'b1'),
        [],
      ],
      [
        'passes over a node whose Lease an earlier BatchRelease of the name holds',
        (s) => choose(locking(s, 'Take', 'a', 'tranche/demo/agent/u0').seen().wait(1), 'b1'),
        [],
      ],
      [
        'passes over no node because of a Lease of its own',
        (s) =>
          choose(
            locking(s.order({ metadata: { uid: 'u1' } }), 'Take', 'a', 'tranche/demo/agent/u1')
              .seen()
              .wait(1),
            'b1',
          ),
        ['G5 b'],
      ],
      [
        'passes over no node because of a Lease that the policy ignores',
        (s) => choose(locking(s, 'Ignore', 'a').seen().wait(1), 'b1'),
        ['G5 b'],
      ],
      ['passes over no node because of the Lease of another one', (s) => choose(locking(s, 'Take', 'c').seen().wait(1), 'b1'), ['G5 b']],
      [
        'passes over no node because of a Lease that expired long ago',
        (s) =>
          choose(
            locking(s, 'Take', 'a')
              .wait(10 * MINUTE)
              .seen()
              .wait(1),
            'b1',
          ),
        ['G5 b'],
      ],
      ['passes over a node that was away for long enough by a minReadySeconds that came meanwhile', afterUpdate('1m', 60), []],
      ['passes over a node that was not desired for a while before its agent was back', afterTaint, []],
      ['passes over no node that was away for less than the limit', afterUpdate('1m', 30), ['G5 b']],
      ['passes over a node that was back while no executor could read the permit record', afterDefinitions('phase'), []],
      ['passes over no node that was back while executors could read it', afterDefinitions('phase', 'flight'), ['G5 b']],
      ['passes over a node on which another pod runs, where the policy asks for room', beside('Check'), []],
      ['passes over no node where the policy ignores the room', beside('Ignore'), ['G5 b']],
      ['passes over no node because of a pod on another one', beside('Check', { node: 'c' }), ['G5 b']],
      ['passes over no node because of a pod that requests nothing', beside('Check', { requests: undefined }), ['G5 b']],
      ['passes over no node because of a pod of the DaemonSet', beside('Check', { ownerUid: 'ds-1' }), ['G5 b']],
      ['passes over a node because of a forged pod (F15)', beside('Check', { ownerUid: 'ds-1' }, { namespace: 'tenant' }), []],
      ['passes over a node that another pod may wait for', beside('Check', { bound: false, node: undefined }), []],
      ['passes over a node that another pod waits for', beside('Check', { bound: false }), []],
      ['passes over no node because of a pod that waits for another one', beside('Check', { bound: false, node: 'c' }), ['G5 b']],
      [
        'passes over a node for which a pod waited that now runs on another one',
        (s) =>
          choose(
            asking(s, 'Check').other({ bound: false, node: undefined }).seen().wait(1).other({ bound: true, node: 'c' }).seen().wait(1),
            'b1',
          ),
        [],
      ],
      [
        'passes over a node for a few minutes after the other pod has left',
        (s) =>
          choose(
            asking(s, 'Check')
              .other({})
              .other({ phase: 'Succeeded' })
              .seen()
              .wait(5 * MINUTE),
            'b1',
          ),
        [],
      ],
      [
        'passes over no node long after the other pod has left',
        (s) =>
          choose(
            asking(s, 'Check')
              .other({})
              .other({ phase: 'Succeeded' })
              .seen()
              .wait(7 * MINUTE),
            'b1',
          ),
        ['G5 b'],
      ],
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

  judgeEach(
    'G5',
    [
      ['passes over a node that could not be read', afterFailure(consumers), []],
      ['passes over a node that could not be cordoned', afterFailure('/api/v1/nodes/a', { method: 'PATCH' }), []],
      [
        'passes over a node on which an eviction failed',
        afterFailure('/api/v1/namespaces/x/pods/agent-a1/eviction', { method: 'POST' }),
        [],
      ],
      ['passes over a node where a request that names none failed', afterFailure('/api/v1/persistentvolumes/v'), []],
      ['passes over no node because another one could not be read', afterFailure(consumers.replace('Da', 'Dc')), ['G5 b']],
      ['passes over no node because of another process', afterFailure(consumers, { actor: 'executor-2' }), ['G5 b']],
      ['passes over no node because of a watch', afterFailure('/api/v1/pods?watch=true'), ['G5 b']],
      ['passes over no node because of a deletion', afterFailure('/api/v1/namespaces/x/pods/agent-a1', { method: 'DELETE' }), ['G5 b']],
      ['passes over no node long after', afterFailure(consumers, { ago: 7 * MINUTE }), ['G5 b']],
      [
        'passes over no node because of a request that no check needs',
        (s) => choose(s.fails('GET', consumers).seen().wait(MINUTE), 'b1'),
        ['G5 b'],
      ],
      ['passes over a node that rests after its drain', afterConsumer(MINUTE, { onTimeout: 'Hold' }), []],
      ['passes over no node that has rested', afterConsumer(3 * MINUTE, { onTimeout: 'Hold' }), ['G5 b']],
      ['passes over no node where the policy continues after the time', afterConsumer(MINUTE, { onTimeout: 'Continue' }), ['G5 b']],
      ['passes over no node that other pods have left', afterConsumer(MINUTE, {}, { uses: 'nothing' }), ['G5 b']],
    ],
    { begin: unpermitted },
  )
})

describe('the order, after the clock of the API server was set back', () => {
  judgeEach('G5', [['passes over a node whose Lease another program holds by that clock', lockedSetBack(MINUTE), []]], {
    begin: unpermitted,
    query: (s) => ({ clockSteps: [{ atMs: s.nowMs - 3 * MINUTE, ms: -9 * MINUTE }] }),
  })
  judgeEach('G5', [['passes over no node whose Lease expired long ago by that clock', lockedSetBack(10 * MINUTE), ['G5 b']]], {
    begin: unpermitted,
    query: (s) => ({ clockSteps: [{ atMs: s.nowMs - 12 * MINUTE, ms: -9 * MINUTE }] }),
  })
})
