import { describe, expect, it } from 'vitest'
import { find, fleet, judgeEach, type Script } from '../script.ts'

describe('the batch', () => {
  judgeEach(
    'G3',
    [
      ['may be used up', (s) => s.del('a1').del('b1'), []],
      ['may not be exceeded', (s) => s.del('a1').replace('a1').del('b1').replace('b1').del('c1'), ['G3 c']],
      [
        'counts leaked nodes as soon as the watch reports them',
        (s) => s.gone('d1').pod('d2', { hash: 'v2' }).seen().wait(1).del('a1').del('b1'),
        ['G3 b'],
      ],
      ['does not before', (s) => s.gone('d1').pod('d2', { hash: 'v2' }).wait(9_000).del('a1').del('b1'), []],
      ['counts a node that will come back on the revision', (s) => s.gone('d1').seen().wait(1).del('a1').del('b1'), ['G3 b']],
      ['has the wanted nodes less the partition', (s) => s.record({ partition: 3 }).del('a1').del('b1'), ['G3 b']],
      [
        'grows with a node that joins on the new revision',
        (s) => s.node('e').pod('e2', { hash: 'v2' }).seen().wait(1).del('a1').del('b1'),
        [],
      ],
      ['shrinks with a node that leaves', (s) => s.removeNode('d').seen().wait(1).del('a1').del('b1'), ['G3 b']],
      ['does not before the watch reports it', (s) => s.removeNode('d').wait(9_000).del('a1').del('b1'), []],
      [
        'counts a node once that we delete from twice',
        (s) => s.del('a1').replace('a1', { hash: 'v1' }).record({}, "a1' b1").del("a1'").del('b1'),
        [],
      ],
      [
        'does not count a node that is not wanted',
        (s) =>
          s
            .node('d', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
            .gone('d1')
            .seen()
            .wait(1)
            .record({ partition: 1 })
            .del('a1')
            .del('b1'),
        [],
      ],
      ['starts again with another revision', (s) => s.del('a1').replace('a1').record({ revision: 'v3', partition: 3 }).del('b1'), []],
      [
        'is the published one, not the one an executor writes into the record',
        (s) => s.record({ partition: 0 }, undefined, 'executor-1').del('a1').del('b1').del('c1'),
        ['G3 c'],
      ],
      [
        'grows when the controller publishes more and writes it into the record',
        (s) => s.record({ partition: 0 }, undefined, 'controller-1').del('a1').del('b1').del('c1'),
        [],
      ],
      [
        'does not grow while only the annotation says so',
        (s) => s.annotate({ 'rollouts.kruise.io/daemonset-partition': '0' }).del('a1').del('b1').del('c1'),
        ['G3 c'],
      ],
      [
        'must be ordered',
        (s) => s.daemonSet({ annotations: {} }).record({ revision: undefined, partition: undefined }).del('a1'),
        ['G3 a'],
      ],
    ],
    { begin: () => fleet().record({ partition: 2 }).seen().wait(1) },
  )
})

describe('the aim', () => {
  judgeEach('G4', [
    ['is an old pod as it was permitted', (s) => s.del('a1'), []],
    ['is none of the revision being released', (s) => s.pod('a1', { hash: 'v2' }).record({}, 'a1').seen().wait(1).del('a1'), ['G4 a']],
    ['may be one without a revision', (s) => s.pod('a1', { hash: undefined }).record({}, 'a1').seen().wait(1).del('a1'), []],
    ['is none that is terminating', (s) => s.pod('a1', { deleting: true }).record({}, 'a1').del('a1'), ['G4 a']],
    ['is none of another DaemonSet', (s) => s.pod('a9', { owner: 'other', ownerUid: 'ds-9' }).record({}, 'a9').del('a9'), ['G4 a']],
    [
      'is none of a DaemonSet of the same name that is gone',
      (s) => s.daemonSet({ uid: 'ds-2' }).record({}, 'a1').seen().wait(1).del('a1'),
      ['G4 a'],
    ],
    ['needs the uid', (s) => s.del('a1', { preconditions: { resourceVersion: '105' } }), ['G4 a']],
    ['needs the resourceVersion', (s) => s.del('a1', { preconditions: { uid: 'a1' } }), ['G4 a']],
    ['needs a permit', (s) => s.pod('a9').seen().wait(1).del('a9'), ['G4 a']],
    ['needs a permit for the pod as it is', (s) => s.pod('a1', { phase: 'Running' }).seen().wait(1).del('a1'), ['G4 a']],
    ['may use a permit that another record gave', (s) => s.record({ epoch: 2 }, '').del('a1'), []],
    [
      'is on a wanted node',
      (s) =>
        s
          .node('a', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
          .seen()
          .wait(1)
          .del('a1'),
      ['G4 a'],
    ],
    [
      'may be on one whose taint the watch has not reported',
      (s) =>
        s
          .node('a', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
          .wait(99)
          .del('a1'),
      [],
    ],
    [
      'needs a DaemonSet of the generation of the record',
      (s) => s.daemonSet({ generation: 2, observed: 2 }).seen().wait(1).del('a1'),
      ['G4 a'],
    ],
    ['does not before the watch has reported another one', (s) => s.daemonSet({ generation: 2, observed: 2 }).wait(99).del('a1'), []],
    [
      'does when the record follows',
      (s) => s.daemonSet({ generation: 2, observed: 2 }).record({ generation: 2 }).seen().wait(1).del('a1'),
      [],
    ],
    [
      'needs a generation that was observed',
      (s) => s.daemonSet({ generation: 2 }).record({ generation: 2 }).seen().wait(1).del('a1'),
      ['G4 a'],
    ],
    [
      'needs the strategy OnDelete',
      (s) =>
        s
          .daemonSet({ strategy: { type: 'RollingUpdate' } })
          .seen()
          .wait(1)
          .del('a1'),
      ['G4 a'],
    ],
    ['needs a DaemonSet that is not paused', (s) => s.annotate({ 'tranche.dev/paused': 'true' }).seen().wait(1).del('a1'), ['G4 a']],
    [
      'needs the published revision',
      (s) => s.annotate({ 'rollouts.kruise.io/daemonset-canary-revision': 'v3' }).seen().wait(1).del('a1'),
      ['G4 a'],
    ],
    ['counts one request as one deletion, though it is marked and removed', (s) => s.del('a1').wait(-1).del('a1', { type: 'DELETED' }), []],
  ])
})

describe('a stop', () => {
  const requested = { metadata: { generation: 2 }, spec: { strategy: { paused: true } } }
  const paused = { status: { observedGeneration: 2, conditions: [{ type: 'Progressing', reason: 'Paused' }] } }
  judgeEach('G9', [
    ['holds from its acknowledgement on', (s) => s.rollout(requested).rollout(paused, 'controller-1').del('a1'), ['G9 a']],
    ['does not hold before', (s) => s.rollout(requested).del('a1'), []],
    [
      'is not acknowledged by a status of an older generation',
      (s) =>
        s
          .rollout(paused, 'controller-1')
          .rollout({ ...requested, metadata: { generation: 3 } })
          .rollout(paused, 'controller-1')
          .del('a1'),
      [],
    ],
    [
      'is not revoked by a later status',
      (s) =>
        s
          .rollout(requested)
          .rollout(paused, 'controller-1')
          .rollout({ status: { conditions: [] } }, 'controller-1')
          .del('a1'),
      ['G9 a'],
    ],
    [
      'ends with its request',
      (s) =>
        s
          .rollout(requested)
          .rollout(paused, 'controller-1')
          .rollout({ spec: { strategy: { paused: false } } })
          .del('a1'),
      [],
    ],
    [
      'may be that the Rollout is disabled',
      (s) =>
        s
          .rollout({ metadata: { generation: 2 }, spec: { disabled: true } })
          .rollout({ status: { observedGeneration: 2, phase: 'Disabled' } }, 'controller-1')
          .del('a1'),
      ['G9 a'],
    ],
    ['may be that the Rollout is gone', (s) => s.rollout({}).rollout({}, 'user', { type: 'DELETED' }).del('a1'), ['G9 a']],
    [
      'is that of the Rollout in charge',
      (s) => s.annotate({ 'tranche.dev/rollout': 'another' }).rollout(requested).rollout(paused, 'controller-1').del('a1'),
      [],
    ],
    [
      'ends with a hand-written BatchRelease',
      (s) => s.rollout({}).rollout({}, 'user', { type: 'DELETED' }).release('by-hand').del('a1'),
      [],
    ],
  ])
})

describe('a stop of the BatchRelease', () => {
  const held = { metadata: { generation: 2 }, spec: { tranche: { hold: { reason: 'RevisionHeld', id: 'v2' } } } }
  const observed = { status: { observedGeneration: 2 } }
  judgeEach('G9', [
    [
      'holds from the acknowledgement of a hold on',
      (s) => s.order(held).order(observed).record({ state: 'open', epoch: 3 }).del('a1'),
      ['G9 a'],
    ],
    ['does not hold before', (s) => s.order(held).del('a1'), []],
    [
      'is not acknowledged by an older observed generation',
      (s) =>
        s
          .order({ metadata: { generation: 2 }, ...observed })
          .order({ ...held, metadata: { generation: 3 } })
          .del('a1'),
      [],
    ],
    [
      'ends with the hold',
      (s) =>
        s
          .order(held)
          .order(observed)
          .order({ spec: { tranche: { hold: undefined } } })
          .del('a1'),
      [],
    ],
    [
      'starts again with another hold',
      (s) =>
        s
          .order(held)
          .order(observed)
          .order({ spec: { tranche: { hold: undefined } } })
          .order({ ...held, metadata: { generation: 4 } })
          .del('a1'),
      [],
    ],
    [
      'may be a pause',
      (s) =>
        s
          .order({ metadata: { generation: 2 }, spec: { tranche: { paused: true } } })
          .order(observed)
          .del('a1'),
      ['G9 a'],
    ],
    [
      'may be its deletion',
      (s) =>
        s
          .order({ metadata: { generation: 2, deletionTimestamp: '2026-01-01T00:00:00Z' } })
          .order(observed)
          .del('a1'),
      ['G9 a'],
    ],
    ['is that of the BatchRelease in charge', (s) => s.order(held).order(observed).release('by-hand').record({}).del('a1'), ['G9 a']],
    ['is none of one that is not', (s) => s.order(held).order(observed).release('by-hand').del('a1'), []],
  ])
})

describe('a Rollout that detaches and freezes its release', () => {
  const going = { metadata: { generation: 2, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  const disabled = { metadata: { generation: 2 }, spec: { disabled: true } }
  const saying = (phase: string) => ({ status: { observedGeneration: 2, phase } })
  const again = (s: Script): Script => s.record({ state: 'open', epoch: 1, generation: 1, revision: 'v2', partition: 0, limit: 2 })
  judgeEach('G9', [
    [
      'has stopped when its BatchRelease is gone',
      (s) => again(s.rollout(going).rollout(saying('Terminating'), 'controller-1').order({}, { type: 'DELETED' })).del('a1'),
      ['G9 a'],
    ],
    [
      'has stopped so when it is disabled, too',
      (s) => again(s.rollout(disabled).rollout(saying('Disabling'), 'controller-1').order({}, { type: 'DELETED' })).del('a1'),
      ['G9 a'],
    ],
    ['has not while the BatchRelease is there', (s) => s.rollout(going).rollout(saying('Terminating'), 'controller-1').del('a1'), []],
    ['has not where its status does not know', (s) => again(s.rollout(going).order({}, { type: 'DELETED' })).del('a1'), []],
    [
      'may be enabled again',
      (s) =>
        again(
          s
            .rollout(disabled)
            .rollout(saying('Disabling'), 'controller-1')
            .order({}, { type: 'DELETED' })
            .rollout({ metadata: { generation: 3 }, spec: { disabled: false } }),
        ).del('a1'),
      [],
    ],
    [
      'keeps a pause that was acknowledged before',
      (s) =>
        s
          .rollout({ metadata: { generation: 2 }, spec: { strategy: { paused: true } } })
          .rollout({ status: { observedGeneration: 2, conditions: [{ type: 'Progressing', reason: 'Paused' }] } }, 'controller-1')
          .rollout({ ...going, metadata: { ...going.metadata, generation: 3 } })
          .del('a1'),
      ['G9 a'],
    ],
    [
      'stops nothing where its release is to be brought to an end',
      (s) =>
        again(
          s
            .rollout({ metadata: { ...going.metadata, annotations: { 'tranche.dev/on-delete': 'Complete' } } })
            .rollout(saying('Terminating'), 'controller-1')
            .order({}, { type: 'DELETED' }),
        ).del('a1'),
      [],
    ],
  ])
})

it('checks only one DaemonSet if requested', () => {
  const script = fleet().del('a1').del('b1').del('c1')
  expect(find(script, { daemonSet: { name: 'agent' } })).not.toEqual([])
  expect(find(script, { daemonSet: { name: 'another' } })).toEqual([])
  expect(find(script, { daemonSet: { namespace: 'elsewhere', name: 'agent' } })).toEqual([])
})

it('checks any number of DaemonSets, each separately', () => {
  const script = fleet().del('a1').del('b1')
  script.daemonSet({ name: 'other', uid: 'ds-9', generation: 1, observed: 1 }).pod('c9', { owner: 'other', ownerUid: 'ds-9' }).del('c9')
  const found = find(script, { guarantees: ['G1', 'G2', 'G3'] })
  expect(found.map(({ guarantee, node }) => `${guarantee} ${node}`)).toEqual(['G3 c', 'G2 c'])
})
