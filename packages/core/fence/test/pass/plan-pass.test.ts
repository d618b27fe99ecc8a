import type { Permit } from '@tranche/api-schema'
import { type PublishedTarget, type PassPlan, planPass } from '@tranche/fence'
import { describe, expect, it } from 'vitest'
import { type PassCase, passView, planText } from './pass-notation.ts'

type Case = PassCase & { readonly want: string }

describe('planPass: when an executor may act', () => {
  const cases: Record<string, Case> = {
    'acts while record and DaemonSet agree': { nodes: 'a:old', permits: 'a', want: 'execute a' },
    'waits for the opening while a record is stopped': { nodes: 'a:old', record: { state: 'stopped' }, want: 'wait for opening' },
    'F2 waits for its pod watch while the record rests on something newer': {
      nodes: 'a:old',
      permits: 'a',
      podsSeen: '99',
      record: { watermark: '100' },
      want: 'wait for podWatch',
    },
    'F2 acts as soon as its pod watch has caught up': {
      nodes: 'a:old',
      permits: 'a',
      podsSeen: '100',
      record: { watermark: '100' },
      want: 'execute a',
    },
    'F2 settles nothing on a view that is too old': {
      nodes: 'a:new',
      permits: 'a.gone',
      podsSeen: '99',
      record: { watermark: '100', state: 'stopped' },
      want: 'wait for podWatch',
    },
  }
  table(cases)

  table({
    'executes nothing while the new version is bad': { nodes: 'a:old', permits: 'a', isBad: true, want: 'wait for verdict' },
    'permits nothing while the new version is bad': { nodes: 'a:old', isBad: true, want: 'wait for verdict' },
    'rechecks when a node may become healthy by time while the new version is bad': {
      nodes: 'a:new* b:old',
      minReadySeconds: 60,
      isBad: true,
      want: 'wait for verdict until 159000',
    },
    'withdraws unwanted permits, however bad the new version is': {
      nodes: 'a:old b:new',
      permits: 'a',
      partition: 1,
      isBad: true,
      want: 'withdraw a',
    },
  })

  it.each([
    ['a healthy node', 'a:old', undefined],
    ['a node with an available pod beside one that is not', 'a:old+new!', undefined],
    ['a node without a Ready pod', 'a:old!', true],
    ['a node whose Ready pod this process has not seen for minReadySeconds yet', 'a:old*', undefined],
  ])('records for %s whether it was bad before', (_what, nodes, wasBad) => {
    const plan = planPass(passView({ nodes, minReadySeconds: 60, limit: 2 }))
    expect(plan.kind === 'changePermits' && plan.change.append.map((permit) => permit.wasBad)).toEqual([wasBad])
  })

  it.each([
    ['a node on which a version is starting', 'a:bad!', [{}], undefined],
    ['a node that was bad before that version, too', 'a:bad!', [{ wasBad: true as const }], true],
    ['a node that was Ready before the last of two such versions', 'a:bad!', [{ wasBad: true as const }, {}], undefined],
    ['a node that was bad before that version, whose pod is Ready for a moment', 'a:bad*', [{ wasBad: true as const }], true],
    ['a node on which the stable version is Ready again', 'a:old*', [{ wasBad: true as const }], undefined],
    ['a node that is NotReady now', 'a¿:bad!', [{}], true],
    ['a node on which the stable version is not available', 'a:old!', [{}], true],
    ['a node whose permit was restored after the loss of the record', 'a:bad!', [{ podUid: 'lost:a' }], true],
  ])('records for %s whether it was bad before, when the next version replaces its pod', (_what, nodes, before, wasBad) => {
    const permits = before.map((fields, at) => ({ node: 'a', podUid: `gone-${at}`, podResourceVersion: '4', ...fields }))
    const plan = planPass(passView({ nodes, minReadySeconds: 60, limit: 2, record: { permits } }))
    expect(plan.kind === 'changePermits' && plan.change.append.map((permit) => permit.wasBad)).toEqual([wasBad])
  })

  it('waits for the first record', () => {
    expect(planText(planPass({ ...passView({ nodes: 'a:old' }), record: undefined }))).toBe('wait for record')
  })

  const disagreements: Record<string, Partial<PublishedTarget>> = {
    'the DaemonSet is another one of the same name': { uid: 'another' },
    'control-info names another BatchRelease': { controlledBy: 'another' },
    'control-info is missing': { controlledBy: undefined },
    'another revision is published': { canaryRevision: 'newer' },
    'no revision is published': { canaryRevision: undefined },
    'another partition is published': { partition: 1 },
    'no partition is published': { partition: undefined },
    'the DaemonSet is marked as paused': { paused: true },
    'the native controller would replace pods itself': { strategy: 'RollingUpdate' },
    'the DaemonSet has changed since': { generation: 3 },
    'the DaemonSet controller has not observed the change': { observedGeneration: 1 },
    'the record follows an older generation': { generation: 3, observedGeneration: 3 },
  }
  it.each(Object.entries(disagreements))('F1 does nothing when %s', (_name, published) => {
    for (const permits of ['a', '', 'b.gone']) {
      expect(planText(planPass(passView({ nodes: 'a:old b:new', permits, published })))).toBe('wait for agreement')
    }
  })
})

describe('planPass: which pods get a permit (F3)', () => {
  const many = Array.from({ length: 200 }, (_, at) => `n${100 + at}:old`).join(' ')
  const cases: Record<string, Case> = {
    'permits as many pods as the batch lacks': { nodes: 'a:old b:old c:old', partition: 1, want: 'append a b' },
    'counts a node on the revision': { nodes: 'a:new b:old c:old', partition: 1, want: 'append b' },
    'counts a node without a pod, which will come back on the revision': { nodes: 'a:none b:old c:old', partition: 1, want: 'append b' },
    'counts a node whose pod is terminating': { nodes: 'a:oldx b:old c:old', partition: 1, want: 'append b' },
    'counts a permit, executed or not': {
      nodes: 'a:none b:old c:old d:old',
      permits: 'a.gone b',
      sent: 'b',
      partition: 1,
      limit: 3,
      want: 'append c',
    },
    'counts a node once, whatever number of pods it has': { nodes: 'a:new+new b:old c:old', partition: 1, want: 'append b' },
    'does not count a permit of a node that is not desired': { nodes: 'a-:oldx b:old c:old', permits: 'a', partition: 1, want: 'append b' },
    'G3 permits at most the size of the record, however many nodes have become desired again': {
      nodes: 'a:new b:old c:old d:old',
      partition: 1,
      record: { size: 1 },
      want: 'wait for batch',
    },
    'G3 counts the nodes that the partition leaves where fewer are desired than the size': {
      nodes: 'a:old b:old c:old',
      partition: 2,
      record: { size: 3 },
      want: 'append a',
    },
    'permits nothing without a size in the record, as written by a previous version': {
      nodes: 'a:old b:old',
      record: { size: undefined },
      want: 'wait for batch',
    },
    'withdraws nothing without a size in the record': {
      nodes: 'a:old b:old',
      permits: 'a',
      record: { size: undefined },
      want: 'execute a',
    },
    'takes no more when the batch lacks nothing': { nodes: 'a:new b:old', partition: 1, want: 'wait for batch' },
    'takes no more when too many nodes are on the revision': {
      nodes: 'a:new b:new c:old',
      partition: 2,
      want: 'wait for batch',
    },
    'takes no node of a partition larger than the fleet': { nodes: 'a:old b:old', partition: 5, want: 'wait for batch' },
    'never takes a mis-scheduled pod': { nodes: 'a-:old b:new', want: 'wait for batch' },
    'never takes a terminating pod': { nodes: 'a:oldx', want: 'wait for batch' },
    'never takes a pod of the revision beside an old one': { nodes: 'a:new+old', want: 'append a' },
    'takes a pod of an unknown revision': { nodes: 'a:whatever', want: 'append a' },
    'skips a NotReady node': { nodes: 'a?:old b:old', want: 'append b' },
    'takes a NotReady node whose kubelet answers, off a superseded revision': { nodes: 'a¿:bad b:old', want: 'append a b' },
    'skips a NotReady node on the stable revision, whether its kubelet answers or not': {
      nodes: 'a¿:old b?:bad c:old',
      want: 'append c',
    },
    'appends nothing while enough permits are standing': {
      nodes: 'a:none b:old c:old d:old e:old',
      permits: 'a.gone b c d',
      want: 'wait for budget',
    },
    'appends nothing while enough standing permits are unseen': {
      nodes: 'a:none b:old c:old d:old e:old',
      permits: 'a.gone b.unseen c.unseen d.unseen',
      want: 'wait for availability',
    },
    'gives the slots of settled permits to new ones, in the same write': {
      nodes: `s1:new s2:new s3:new s4:new s5:new s6:new s7:new s8:new a:none ${many}`,
      permits: 's1.gone s2.gone s3.gone s4.gone s5.gone s6.gone s7.gone s8.gone a.gone',
      want: `remove s1 s2 s3 s4 s5 s6 s7 s8, append ${nodesFrom(100, 8)}`,
    },
    'appends again when only two permits are standing and the limit is not filled': {
      nodes: 'a:none b:old c:old e:old f:old',
      permits: 'a.gone b c',
      sent: 'b c',
      limit: 4,
      want: 'append e f',
    },
    'waits until none is standing where the permits fill the limit: none could go before one of them settles': {
      nodes: 'a:none b:old c:old e:old f:old',
      permits: 'a.gone b c',
      limit: 3,
      sent: 'b c',
      want: 'wait for budget',
    },
    'appends beside two standing permits where settled ones, which stay until a write, make up the limit': {
      nodes: 's:new a:none b:old c:old e:old f:old',
      permits: 's.gone a.gone b c',
      limit: 4,
      sent: 'b c',
      want: 'remove s, append e f',
    },
    'appends at the limit when none is standing': {
      nodes: 'a:none b:none c:none e:old f:old',
      permits: 'a.gone b.gone c.gone',
      limit: 3,
      want: 'append e f',
    },
    'appends at the limit beside two standing permits whose nodes are not ready': {
      nodes: 'a:none b:old c:old e:old f:old',
      permits: 'a.gone b c',
      limit: 3,
      ahead: 0,
      room: 'b=pending c=pending e=permit f=permit',
      want: 'append e f',
    },
    'appends at the limit beside two standing permits that a spread rule may keep': {
      nodes: 'a:none b:old c:old e:old f:old',
      zones: 'a=x b=x c=x e=y f=y',
      rules: { spread: [{ topologyKey: 'zone', maxUnavailable: 3 }] },
      permits: 'a.gone b c',
      limit: 3,
      sent: 'b c',
      want: 'append e f',
    },
    'keeps at most the limit and its slack, including settled permits': {
      nodes: `a:none ${many}`,
      permits: 'a.gone',
      want: `append ${nodesFrom(100, 8)}`,
    },
    'ends with nothing to do on a DaemonSet that matches no node': { nodes: '', want: 'wait for batch' },
    'prefers a node whose only Ready pod is terminating to healthy ones, if no budget is left': {
      nodes: 'a:bad b:oldx+old! c:new!',
      want: 'append b a',
    },
    'prefers broken nodes while as many nodes as the limit are down, and not before': {
      nodes: 'a:bad b:old! c:new! d:new!',
      limit: 3,
      want: 'append b a',
    },
    'takes nodes in their order while fewer are down than the limit': {
      nodes: 'a:bad b:old! c:new! d:new!',
      limit: 4,
      want: 'append a b',
    },
    'prefers broken nodes while standing permits use the budget': {
      nodes: 'a:old b:bad c:old!',
      permits: 'a',
      sent: 'a',
      limit: 2,
      want: 'append c b',
    },
    'takes nodes in their order where only a settled permit would use the budget': {
      nodes: 'a:new b:bad c:old!',
      permits: 'a.gone',
      limit: 2,
      want: 'remove a, append b c',
    },
    'treats a node with another Ready pod as healthy, where no budget is left': {
      nodes: 'a:bad b:old+old! c:new!',
      want: 'append a b',
    },
    'takes a node in flight again whose only Ready pod is terminating': {
      nodes: 'a:badx+bad! b:old',
      permits: 'a.gone',
      want: 'append a',
    },
  }
  table(cases)

  it.each([
    [1, 9],
    [8, 16],
    [64, 72],
    [100, 113],
  ])('holds at limit %i at most %i permits', (limit, most) => {
    const plan = planPass(passView({ nodes: many, limit }))
    expect(plan.kind === 'changePermits' && plan.change.append.length).toBe(most)
  })

  it('permits a pod unchanged, by uid and resourceVersion (G4)', () => {
    const plan = planPass(passView({ nodes: 'a:new+old' }))
    expect(plan).toMatchObject({ change: { append: [{ node: 'a', podUid: 'uid-pod-a-2', podResourceVersion: '10' }] } })
  })
})

describe('planPass: which permits are executed (F4)', () => {
  const cases: Record<string, Case> = {
    'executes as many as the limit, in the order of the record': {
      nodes: 'a:old b:old c:old',
      permits: 'c a b',
      limit: 2,
      want: 'execute c a',
    },
    'executes what follows settled permits': { nodes: 'a:new b:old', permits: 'a.gone b', want: 'execute b' },
    'waits while earlier nodes use every slot': { nodes: 'a:none b:old!', permits: 'a.gone b', want: 'wait for budget' },
    'keeps the slot of a permit that was sent': { nodes: 'a:old b:old', permits: 'a b', sent: 'a', want: 'wait for budget' },
    'sends nothing twice': { nodes: 'a:old', permits: 'a', sent: 'a', want: 'wait for budget' },
    'keeps the slot of a permit whose pod it has not seen': { nodes: 'a:old b:old', permits: 'a.unseen b', want: 'wait for budget' },
    'counts nodes, not permits: a node takes no slot from itself': { nodes: 'a:old!', permits: 'a.gone a', want: 'execute a' },
    'counts a node with two earlier permits once': { nodes: 'a:old! b:old', permits: 'a.gone a b', limit: 2, sent: 'a', want: 'execute b' },
    'counts a taken node once, even if it is broken too': { nodes: 'a:none b:old', permits: 'a.gone b', limit: 2, want: 'execute b' },
    'waits while a node that broke by itself uses the budget': { nodes: 'a:new! b:old', permits: 'b', want: 'wait for budget' },
    'waits while earlier permits and broken nodes together use the budget': {
      nodes: 'a:oldx b:new! c:old',
      permits: 'a c',
      limit: 2,
      want: 'wait for budget',
    },
    'waits while a permit, sent without a visible outcome, and a broken node together use the budget (G1)': {
      nodes: 'a:old b:new! c:old',
      permits: 'a c',
      sent: 'a',
      limit: 2,
      want: 'wait for budget',
    },
    'waits while a node without a pod uses the budget': { nodes: 'a:none b:old', permits: 'b', want: 'wait for budget' },
    'waits for a new pod that is Ready for less than minReadySeconds': {
      nodes: 'a:new* b:old',
      permits: 'b',
      minReadySeconds: 60,
      want: 'wait for budget until 159000',
    },
    'lets a Ready pod cost budget before it is available': {
      nodes: 'a:new! b:old*',
      permits: 'b',
      minReadySeconds: 60,
      want: 'wait for budget until 159000',
    },
    'lets no pod block itself': { nodes: 'a:old*', permits: 'a', minReadySeconds: 60, want: 'execute a' },
    'executes a pod that is not Ready, whatever else is broken': { nodes: 'a:new! b:old!', permits: 'b', want: 'execute b' },
    'does not count broken nodes that are not desired': { nodes: 'a-:new! b:old', permits: 'b', want: 'execute b' },
    'counts a node that a later permit took': { nodes: 'a:old b:none', permits: 'a b.gone', want: 'wait for budget' },
    'counts a permit of a node that left until the record changes': {
      nodes: 'b:old',
      permits: 'a.gone b',
      confirmed: 'a',
      want: 'remove a',
    },
    'counts a permit of a node that only our view lacks': { nodes: 'b:old', permits: 'a.gone b', want: 'confirm node a' },
    'keeps the slot of a node that left, even from a pod that costs no budget': {
      nodes: 'b:old!',
      permits: 'a.gone b',
      confirmed: 'a',
      want: 'remove a',
    },
    'permits an old pod that came up on a node in flight, and executes it at once': {
      nodes: 'a:older!',
      permits: 'a.gone',
      want: 'append a',
    },
    'F12 loses one slot to a pod that never terminates': { nodes: 'a:oldx b:old c:old', permits: 'a b c', limit: 2, want: 'execute b' },
    'F12 waits when pods that never terminate use every slot': {
      nodes: 'a:oldx b:oldx c:old',
      permits: 'a b c',
      limit: 2,
      want: 'wait for budget',
    },
  }
  table(cases)

  it('names the pod that the permit is for', () => {
    const plan = planPass(passView({ nodes: 'a:old', permits: 'a' }))
    expect(plan).toEqual({
      kind: 'execute',
      pods: [{ permit: { node: 'a', podUid: 'uid-pod-a', podResourceVersion: '10' }, namespace: 'demo', podName: 'pod-a' }],
    } satisfies PassPlan)
  })
})

describe('planPass: more nodes in flight than the limit allows, with a version that never comes up (F4, F7, G6)', () => {
  const cases: Record<string, Case> = {
    'executes the first standing permit, on the node of the last one that is gone': {
      nodes: 'a:bad! b:bad! c:old',
      permits: 'a.gone b.gone b',
      want: 'execute b',
    },
    'executes it even behind settled permits': {
      nodes: 'a:bad! b:bad! c:new',
      permits: 'a.gone b.gone c.gone b',
      want: 'execute b',
    },
    'executes no permit on a node before the last': { nodes: 'a:bad! b:none', permits: 'a.gone b.gone a', want: 'wait for budget' },
    'executes only the first standing permit': {
      nodes: 'a:bad! b:bad! c:old',
      permits: 'a.gone b.gone c b',
      sent: 'c',
      want: 'wait for budget',
    },
    'executes no permit behind an unseen one': {
      nodes: 'a:bad! b:bad! c:old!',
      permits: 'a.gone b.gone c.unseen b',
      want: 'wait for budget',
    },
    'permits only the pod on the last node': { nodes: 'a:bad! b:bad! c:bad! d:old', permits: 'a.gone b.gone', want: 'append b' },
    'permits nothing while the last node waits for its new pod': {
      nodes: 'a:bad! b:new! c:bad!',
      permits: 'a.gone b.gone',
      want: 'wait for availability',
    },
    'withdraws other permits that come first': {
      nodes: 'a:bad! b:bad! c:old! d:old',
      permits: 'a.gone b.gone c d',
      want: 'withdraw c d',
    },
    'withdraws only the permits of other nodes': {
      nodes: 'a:bad! b:bad! c:old d:old',
      permits: 'a.gone b.gone c b',
      want: 'withdraw c',
    },
    'takes any of them again while they are within the limit': {
      nodes: 'a:bad! b:bad! c:old! d:old',
      permits: 'a.gone b.gone',
      limit: 2,
      want: 'append a b',
    },
    'lets a Ready pod become available first': {
      nodes: 'a:bad! b:bad* c:old',
      minReadySeconds: 60,
      permits: 'a.gone b.gone c',
      want: 'wait for budget until 159000',
    },
    'has room for one permit however far the limit has fallen': {
      nodes: `${nodesFrom(1, 20).replaceAll(' ', ':bad! ')}:bad! z:old`,
      permits: `${nodesFrom(1, 20).replaceAll(' ', '.gone ')}.gone`,
      want: 'append n20',
    },
    'drops a permit of a node that has a later gone one': {
      nodes: 'a:oldx b:old',
      permits: 'a.gone a',
      want: 'remove a, append b',
    },
    'keeps it for an unseen permit in between': {
      nodes: 'a:oldx b:old c:old',
      permits: 'a.gone b.unseen a',
      limit: 4,
      want: 'append c',
    },
    'keeps it for a standing permit in between': {
      nodes: 'a:oldx b:old c:old',
      permits: 'a.gone b a',
      sent: 'b',
      limit: 4,
      want: 'append c',
    },
  }
  table(cases)
})

describe('planPass: which permits leave the record', () => {
  const eightSettled = Array.from({ length: 8 }, (_, at) => `s${at}`)
  const cases: Record<string, Case> = {
    'F5 discards a permit whose pod exists in a newer version': { nodes: 'a:old', permits: 'a.dead', want: 'remove a' },
    'F5 gives a discarded pod no permit in the same write': {
      nodes: 'a:old b:old',
      permits: 'a.dead',
      limit: 2,
      want: 'remove a, append b',
    },
    'F6 removes settled permits when nothing else is left': { nodes: 'a:new', permits: 'a.gone', want: 'remove a' },
    'F6 settles by a pod with another uid, whatever its revision': {
      nodes: 'a:old b:none',
      permits: 'a.gone b.gone',
      limit: 2,
      want: 'remove a',
    },
    'F6 does not settle by a pod that is not available': { nodes: 'a:new!', permits: 'a.gone', want: 'wait for availability' },
    'F6 does not settle before minReadySeconds have passed': {
      nodes: 'a:new*',
      permits: 'a.gone',
      minReadySeconds: 60,
      want: 'wait for availability until 159000',
    },
    'F6 reads a pod that only the clock has made available before counting it': {
      nodes: 'a:new b:old',
      permits: 'a.gone b',
      minReadySeconds: 60,
      want: 'confirm a',
    },
    'F6 continues as soon as a read has confirmed it': {
      nodes: 'a:new b:old',
      permits: 'a.gone b',
      minReadySeconds: 60,
      confirmed: 'a',
      want: 'execute b',
    },
    'F6 removes a permit that a read has confirmed': {
      nodes: 'a:new',
      permits: 'a.gone',
      minReadySeconds: 60,
      confirmed: 'a',
      want: 'remove a',
    },
    'F6 keeps the slot of a node whose pod was read without confirmation, and reads it again later': {
      nodes: 'a:new b:old',
      permits: 'a.gone b',
      minReadySeconds: 60,
      open: 'a',
      want: 'wait for budget until 101000',
    },
    'F6 reads again at once when the view of the pod has moved': {
      nodes: 'a:new b:old',
      permits: 'a.gone b',
      minReadySeconds: 60,
      openBefore: 'a',
      want: 'confirm a',
    },
    'F6 executes first what needs no read': { nodes: 'a:new b:old', permits: 'a.gone b', minReadySeconds: 60, limit: 2, want: 'execute b' },
    'F6 reads no pod whose permit has settled by more than the clock': {
      nodes: 'a:new b:old',
      permits: 'a.gone b',
      want: 'execute b',
    },
    'F6 reads no pod that is no longer Ready, whatever was read before': {
      nodes: 'a:new!',
      permits: 'a.gone',
      minReadySeconds: 60,
      confirmed: 'a',
      want: 'wait for availability',
    },
    'F6 reads a node that is not desired in our view before its permit leaves': {
      nodes: 'a-:new b:new',
      permits: 'a.gone',
      want: 'confirm node a',
    },
    'F6 removes the permit of a node that a read confirmed as no longer desired': {
      nodes: 'a-:new b:new',
      permits: 'a.gone',
      confirmed: 'a',
      want: 'remove a',
    },
    'F6 keeps the slot of a node that a read found and our view lacks, and reads it again later': {
      nodes: 'b:old',
      permits: 'a.gone b',
      openNodes: 'a',
      want: 'wait for budget until 101000',
    },
    'F6 wakes to read again if that is due before a pod is available': {
      nodes: 'a:new b:new* c:old',
      permits: 'a.gone b.gone c',
      minReadySeconds: 60,
      open: 'a',
      want: 'wait for budget until 101000',
    },
    'F6 wakes when a pod is available if that is due before the next read': {
      nodes: 'a:new b:new* c:old',
      permits: 'a.gone b.gone c',
      minReadySeconds: 1.5,
      open: 'a',
      want: 'wait for budget until 100500',
    },
    'F6 waits for the node watch where nothing else is left': {
      nodes: 'b:new',
      permits: 'a.gone',
      openNodes: 'a',
      want: 'wait for availability until 101000',
    },
    'F6 reads no node that has come into view': { nodes: 'a:new! b:new', permits: 'a.gone', openNodes: 'a', want: 'wait for availability' },
    'F6 reads a pod at once whose node has come into view': {
      nodes: 'a:new b:new',
      permits: 'a.gone',
      minReadySeconds: 60,
      openNodes: 'a',
      want: 'confirm a',
    },
    'F6 first executes a permit that fits the budget whether the node has left or not': {
      nodes: 'b:old',
      permits: 'a.gone b',
      limit: 2,
      want: 'execute b',
    },
    'F6 reads pods and nodes together': {
      nodes: 'a:new b-:new',
      permits: 'a.gone b.gone',
      minReadySeconds: 60,
      want: 'confirm a node b',
    },
    'F6 never removes a standing permit without a touch': { nodes: 'a-:old', permits: 'a', want: 'withdraw a' },
    'F6 lets a few settled permits wait for the next write': {
      nodes: 'a:new b:none',
      permits: 'a.gone b.gone',
      want: 'wait for availability',
    },
    'F6 lets eight settled permits wait for the last one as well': {
      nodes: `${eightSettled.map((name) => `${name}:new`).join(' ')} b:none`,
      permits: `${eightSettled.map((name) => `${name}.gone`).join(' ')} b.gone`,
      want: 'wait for availability',
    },
    'F6 lets all settled permits wait a second for the append of the next step': {
      nodes: 'a:new* b:old',
      permits: 'a.gone',
      confirmed: 'a',
      partition: 1,
      minReadySeconds: 0.5,
      want: 'wait for batch until 100500',
    },
    'F6 removes them after that second': { nodes: 'a:new* b:old', permits: 'a.gone', partition: 1, want: 'remove a' },
    'F6 removes them with that append': {
      nodes: 'a:new* b:old',
      permits: 'a.gone',
      confirmed: 'a',
      minReadySeconds: 0.5,
      want: 'remove a, append b',
    },
    'F6 removes them at once where no old pod is left': {
      nodes: 'a:new*',
      permits: 'a.gone',
      confirmed: 'a',
      minReadySeconds: 0.5,
      want: 'remove a',
    },
    'F6 removes them at once from a stopped record': {
      nodes: 'a:new* b:old',
      permits: 'a.gone',
      confirmed: 'a',
      minReadySeconds: 0.5,
      record: { state: 'stopped' },
      want: 'remove a',
    },
    'F6 removes them with the last one': {
      nodes: `${eightSettled.map((name) => `${name}:new`).join(' ')} b:new`,
      permits: `${eightSettled.map((name) => `${name}.gone`).join(' ')} b.gone`,
      want: `remove ${eightSettled.join(' ')} b`,
    },
    'F3 removes settled permits with the next append': {
      nodes: 'a:new b:none c:old',
      permits: 'a.gone b.gone',
      want: 'remove a, append c',
    },
    'F7 withdraws from a node on a superseded revision whose kubelet stopped answering': {
      nodes: 'a?:bad b:old',
      permits: 'a b',
      limit: 2,
      want: 'withdraw a',
    },
    'executes on a NotReady node whose kubelet answers': { nodes: 'a¿:bad b:old', permits: 'a b', limit: 2, want: 'execute a b' },
    'F7 withdraws from a node that has become NotReady': { nodes: 'a?:old b:old', permits: 'a b', limit: 2, want: 'withdraw a' },
    'F7 withdraws from a node that is no longer desired': { nodes: 'a-:old b:old', permits: 'a b', limit: 2, want: 'withdraw a' },
    'F7 withdraws from a pod that is on the revision after all': { nodes: 'a:new b:old', permits: 'a', want: 'withdraw a' },
    'F7 withdraws the last permits that exceed what the batch lacks': {
      nodes: 'a:old b:old c:new',
      partition: 1,
      permits: 'a b',
      want: 'withdraw b',
    },
    'F7 withdraws all of them when the batch lacks nothing': {
      nodes: 'a:old b:old c:new',
      partition: 2,
      permits: 'a b',
      want: 'withdraw a b',
    },
    'F7 withdraws nothing that was sent': { nodes: 'a:old c:new', partition: 1, permits: 'a', sent: 'a', want: 'wait for budget' },
    'F7 withdraws the first permit while a broken old pod has no slot': { nodes: 'a:old! b:old', permits: 'b', want: 'withdraw b' },
    'F7 withdraws the first permit before a broken old pod': { nodes: 'a:old! b:old', permits: 'b a', want: 'withdraw b' },
    'F7 withdraws nothing while something may be executed': { nodes: 'a:old! b:old! c:old', permits: 'c a', limit: 2, want: 'execute a' },
    'F7 withdraws nothing for a broken pod that was sent': { nodes: 'a:old! b:old', permits: 'b a', sent: 'a', want: 'wait for budget' },
    'F7 withdraws nothing for a broken pod that has its slot': { nodes: 'a:oldx b:old', permits: 'a b', want: 'wait for budget' },
    'F7 withdraws nothing for a broken pod on a node that is NotReady': {
      nodes: 'a¿:old! b:old',
      permits: 'b',
      want: 'wait for budget until 300000',
    },
    'F7 withdraws the first permit for a broken superseded pod on a NotReady node whose kubelet answers': {
      nodes: 'a¿:bad! b:old',
      permits: 'b',
      want: 'withdraw b',
    },
    'F7 withdraws nothing for a broken pod of the revision': { nodes: 'a:new! b:old', permits: 'b', want: 'wait for budget' },
    'F7 withdraws nothing while all slots are taken, whatever is broken': {
      nodes: 'a:none b:old c:old!',
      permits: 'a.gone b',
      partition: 1,
      want: 'wait for budget',
    },
    'F7 withdraws the first permit that waits for a slot while a broken old pod on a node in flight has no permit': {
      nodes: 'a:older! b:old',
      permits: 'a.gone b',
      partition: 1,
      want: 'withdraw b',
    },
    'F7 withdraws nothing while several nodes take all slots, whatever is broken': {
      nodes: 'a:none b:none c:old d:old!',
      permits: 'a.gone b.gone c',
      limit: 2,
      partition: 1,
      want: 'wait for budget',
    },
    'F7 withdraws the first permit for a broken old pod where only a settled permit would use the slots': {
      nodes: 'a:new b:none c:old d:old!',
      permits: 'a.gone b.gone c',
      limit: 2,
      partition: 1,
      want: 'withdraw c',
    },
    'F7 withdraws the first permit behind a sent one while a broken old pod on a node in flight has no permit': {
      nodes: 'a:bad! b:old c:old',
      permits: 'a.gone b c',
      sent: 'b',
      limit: 2,
      want: 'withdraw c',
    },
    'F7 withdraws nothing for a Ready pod, which becomes available by time': {
      nodes: 'a:old* b:old',
      permits: 'b',
      partition: 1,
      minReadySeconds: 60,
      want: 'wait for budget until 159000',
    },
    'F7 permits broken pods first while no budget is left, even before a superseded one': {
      nodes: 'a:older b:old!',
      partition: 1,
      want: 'append b',
    },
  }
  table(cases)

  it('rests on the version of every pod that it used (F2)', () => {
    const plan = planPass(passView({ nodes: 'a:new b:old', permits: 'a.gone', limit: 1 }))
    expect(plan).toMatchObject({ change: { restsOn: ['10', '10'] } })
  })
})

describe('planPass: while a record is not open (F8)', () => {
  const states = ['voiding', 'stopped'] as const
  const cases: Record<string, Case> = {
    'executes nothing': { nodes: 'a:old', permits: 'a', want: 'wait for availability' },
    'appends nothing': { nodes: 'a:old', want: 'wait for opening' },
    'withdraws nothing: the controller touches': { nodes: 'a?:old', permits: 'a', want: 'wait for availability' },
    'settles at once': { nodes: 'a:new b:none', permits: 'a.gone b.gone', want: 'remove a' },
    'reads before it settles by the clock (F6)': { nodes: 'a:new', permits: 'a.gone', minReadySeconds: 60, want: 'confirm a' },
    'settles what a read has confirmed': { nodes: 'a:new', permits: 'a.gone', minReadySeconds: 60, confirmed: 'a', want: 'remove a' },
    'settles the rest while a pod was read without confirmation': {
      nodes: 'a:new b-:new',
      permits: 'a.gone b.gone',
      minReadySeconds: 60,
      open: 'a',
      confirmed: 'b',
      want: 'remove b',
    },
    'settles although the DaemonSet has changed': {
      nodes: 'a:new',
      permits: 'a.gone',
      published: { generation: 9 },
      want: 'remove a',
    },
    'reads a node before its permit leaves (F6)': { nodes: 'b:old', permits: 'a.gone', want: 'confirm node a' },
    'removes permits of nodes that left': { nodes: 'b:old', permits: 'a.gone', confirmed: 'a', want: 'remove a' },
    'waits for the node watch where a read has found the node (F6)': {
      nodes: 'b:old',
      permits: 'a.gone',
      openNodes: 'a',
      want: 'wait for availability until 101000',
    },
    'settles nothing by a DaemonSet older than the record (F6)': {
      nodes: 'a:new',
      permits: 'a.gone',
      published: { generation: 0 },
      want: 'wait for agreement',
    },
    'reads nothing by a DaemonSet older than the record (F6)': {
      nodes: 'a:new',
      permits: 'a.gone b.gone',
      minReadySeconds: 60,
      published: { generation: 0 },
      want: 'wait for agreement',
    },
    'settles by a recreated DaemonSet, whose generations start again': {
      nodes: 'a:new',
      permits: 'a.gone',
      published: { uid: 'another', generation: 0 },
      want: 'remove a',
    },
    'discards nothing: a touch decides': { nodes: 'a:old', permits: 'a.dead', want: 'wait for availability' },
    'waits for the moment at which a pod becomes available': {
      nodes: 'a:new*',
      permits: 'a.gone',
      minReadySeconds: 60,
      want: 'wait for availability until 159000',
    },
  }
  for (const state of states) {
    it.each(Object.entries(cases))(`${state}: %s`, (_name, { want, ...given }) => {
      expect(planText(planPass(passView({ ...given, record: { state } })))).toBe(want)
    })
  }
})

it('reads the pod that the clock has made available, not a pod beside it that is not Ready (F6)', () => {
  const plan = planPass(passView({ nodes: 'a:new!+new', permits: 'a.gone', minReadySeconds: 60 }))
  expect(plan).toMatchObject({ kind: 'confirm', pods: [{ pod: { name: 'pod-a-2' } }] })
})

it('reads a pod once, however many permits of its node it may settle (F6)', () => {
  const gone = (podUid: string): Permit => ({ node: 'a', podUid, podResourceVersion: '4' })
  const permits = [gone('first'), gone('second')]
  const plan = planPass(passView({ nodes: 'a:new', minReadySeconds: 60, record: { permits } }))
  expect(plan).toMatchObject({ kind: 'confirm', pods: [{ pod: { node: 'a' }, permits, overdueMs: 40_000 }] })
})

it('reads a node once, however many of its permits may leave (F6)', () => {
  const gone = (podUid: string): Permit => ({ node: 'a', podUid, podResourceVersion: '4' })
  const permits = [gone('first'), gone('second')]
  const plan = planPass(passView({ nodes: 'b:new', record: { permits } }))
  expect(plan).toEqual({ kind: 'confirm', pods: [], nodes: [{ node: 'a', permits }] })
})

function table(cases: Record<string, Case>): void {
  it.each(Object.entries(cases))('%s', (_name, { want, ...given }) => {
    expect(planText(planPass(passView(given)))).toBe(want)
  })
}

function nodesFrom(first: number, count: number): string {
  return Array.from({ length: count }, (_, at) => `n${first + at}`).join(' ')
}
