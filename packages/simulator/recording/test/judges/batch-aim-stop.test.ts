import { describe, expect, it } from 'vitest'
import { type Case, find, fleet, judgeEach, type Script } from '../script.ts'

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
      ['does not count leaked nodes before', (s) => s.gone('d1').pod('d2', { hash: 'v2' }).wait(9_000).del('a1').del('b1'), []],
      ['counts a node that will come back on the revision', (s) => s.gone('d1').seen().wait(1).del('a1').del('b1'), ['G3 b']],
      ['has the desired nodes less the partition', (s) => s.record({ partition: 3 }).del('a1').del('b1'), ['G3 b']],
      [
        'grows with a node that joins on the new revision',
        (s) => s.node('e').pod('e2', { hash: 'v2' }).seen().wait(1).del('a1').del('b1'),
        [],
      ],
      ['shrinks with a node that leaves', (s) => s.removeNode('d').seen().wait(1).del('a1').del('b1'), ['G3 b']],
      ['does not shrink before the watch reports it', (s) => s.removeNode('d').wait(9_000).del('a1').del('b1'), []],
      [
        'counts a node once if Tranche deletes twice there',
        (s) => s.del('a1').replace('a1', { hash: 'v1' }).record({}, "a1' b1").del("a1'").del('b1'),
        [],
      ],
      [
        'does not count a node that is not desired',
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
      ['restarts with another revision', (s) => s.del('a1').replace('a1').record({ revision: 'v3', partition: 3 }).del('b1'), []],
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
        'does not grow while only the annotation has the larger size',
        (s) => s.annotate({ 'rollouts.kruise.io/daemonset-partition': '0' }).del('a1').del('b1').del('c1'),
        ['G3 c'],
      ],
      [
        'must be published',
        (s) => s.daemonSet({ annotations: {} }).record({ revision: undefined, partition: undefined }).del('a1'),
        ['G3 a'],
      ],
    ],
    { begin: () => fleet().record({ partition: 2 }).seen().wait(1) },
  )
})

describe('a dead node that was moved to the revision, to which a rollback returns,', () => {
  const stable = { 'rollouts.kruise.io/daemonset-stable-revision': 'v2' }
  const dies = (s: Script): Script => s.annotate(stable).node('d', { ready: 'Unknown' }).pod("d1'", { ready: false }).seen().wait(2_000)
  const away = (s: Script): Script => s.daemonSet({ template: 'template-3' }).wait(1)
  const back = (s: Script): Script => s.daemonSet({ template: 'template-2' }).wait(1)
  const both = (s: Script): Script => s.record({}, 'a1 b1').seen().wait(1).del('a1').del('b1')
  judgeEach(
    'G3',
    [
      ['counts in the batch of the release that moved it', (s) => both(dies(s)), ['G3 b']],
      ['does not count after another template was released', (s) => both(back(away(dies(s)))), []],
      ['counts then while it is alive', (s) => both(back(away(s.annotate(stable)))), ['G3 b']],
      ['counts while a new template is not yet released', (s) => both(away(dies(s))), ['G3 b']],
      [
        'counts if Tranche only creates its BatchRelease again',
        (s) =>
          dies(s.order({}, { verb: 'delete', type: 'DELETED' }))
            .record({ state: 'open', epoch: 2, generation: 1, revision: 'v2', partition: 2, limit: 2 }, 'a1 b1')
            .seen()
            .wait(1)
            .del('a1')
            .del('b1'),
        ['G3 b'],
      ],
      ['counts if a user changes the DaemonSet, but not its template', (s) => both(dies(s).daemonSet({ generation: 2 })), ['G3 b']],
    ],
    { begin: () => fleet().record({ partition: 2 }).seen().wait(1).del('d1').replace('d1').seen().wait(1) },
  )
})

describe('the aim', () => {
  judgeEach('G4', [
    ['must be an old pod as permitted', (s) => s.del('a1'), []],
    [
      'must not be a pod of the revision being released',
      (s) => s.pod('a1', { hash: 'v2' }).record({}, 'a1').seen().wait(1).del('a1'),
      ['G4 a'],
    ],
    ['may be a pod without a revision', (s) => s.pod('a1', { hash: undefined }).record({}, 'a1').seen().wait(1).del('a1'), []],
    ['must not be a terminating pod', (s) => s.pod('a1', { deleting: true }).record({}, 'a1').del('a1'), ['G4 a']],
    [
      'must not be a pod of another DaemonSet',
      (s) => s.pod('a9', { owner: 'other', ownerUid: 'ds-9' }).record({}, 'a9').del('a9'),
      ['G4 a'],
    ],
    [
      'must not be a pod of a deleted DaemonSet of the same name',
      (s) => s.daemonSet({ uid: 'ds-2' }).record({}, 'a1').seen().wait(1).del('a1'),
      ['G4 a'],
    ],
    [
      'may be a pod of a DaemonSet whose deletion the watch has not reported: it is removed after its DaemonSet',
      (s) => s.daemonSet({}, 'user', { type: 'DELETED', verb: 'delete' }).daemonSet({ uid: 'ds-2' }).del('a1'),
      [],
    ],
    [
      'must not be a pod of a DaemonSet whose deletion the watch has reported',
      (s) => s.daemonSet({}, 'user', { type: 'DELETED', verb: 'delete' }).seen().wait(1).del('a1'),
      ['G4 a'],
    ],
    ['needs the uid', (s) => s.del('a1', { preconditions: { resourceVersion: '105' } }), ['G4 a']],
    ['needs the resourceVersion', (s) => s.del('a1', { preconditions: { uid: 'a1' } }), ['G4 a']],
    ['needs a permit', (s) => s.pod('a9').seen().wait(1).del('a9'), ['G4 a']],
    ['needs a permit for the pod in its present version', (s) => s.pod('a1', { phase: 'Running' }).seen().wait(1).del('a1'), ['G4 a']],
    ['may use a permit of another record', (s) => s.record({ epoch: 2 }, '').del('a1'), []],
    [
      'must be on a desired node',
      (s) =>
        s
          .node('a', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
          .seen()
          .wait(1)
          .del('a1'),
      ['G4 a'],
    ],
    [
      'may be on a node whose taint the watch has not reported',
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
    [
      'does not need it before the watch has reported another generation',
      (s) => s.daemonSet({ generation: 2, observed: 2 }).wait(99).del('a1'),
      [],
    ],
    [
      'has it when the record follows',
      (s) => s.daemonSet({ generation: 2, observed: 2 }).record({ generation: 2 }).seen().wait(1).del('a1'),
      [],
    ],
    ['needs an observed generation', (s) => s.daemonSet({ generation: 2 }).record({ generation: 2 }).seen().wait(1).del('a1'), ['G4 a']],
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
    [
      'counts a request as one deletion, although the pod is first marked and then removed',
      (s) => s.del('a1').wait(-1).del('a1', { type: 'DELETED' }),
      [],
    ],
  ])
})

describe('a stop', () => {
  const requested = { metadata: { generation: 2 }, spec: { strategy: { paused: true } } }
  const paused = { status: { observedGeneration: 2, conditions: [{ type: 'Progressing', reason: 'Paused' }] } }
  judgeEach('G9', [
    ['holds from its acknowledgement', (s) => s.rollout(requested).rollout(paused, 'controller-1').del('a1'), ['G9 a']],
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
      'may be a disabled Rollout',
      (s) =>
        s
          .rollout({ metadata: { generation: 2 }, spec: { disabled: true } })
          .rollout({ status: { observedGeneration: 2, phase: 'Disabled' } }, 'controller-1')
          .del('a1'),
      ['G9 a'],
    ],
    ['may be a deleted Rollout', (s) => s.rollout({}).rollout({}, 'user', { type: 'DELETED' }).del('a1'), ['G9 a']],
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
      'holds from the acknowledgement of a hold',
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
      'restarts with another hold',
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
      'may be a deletion',
      (s) =>
        s
          .order({ metadata: { generation: 2, deletionTimestamp: '2026-01-01T00:00:00Z' } })
          .order(observed)
          .del('a1'),
      ['G9 a'],
    ],
    ['is that of the BatchRelease in charge', (s) => s.order(held).order(observed).release('by-hand').record({}).del('a1'), ['G9 a']],
    ['does not concern another BatchRelease', (s) => s.order(held).order(observed).release('by-hand').del('a1'), []],
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
      'has also stopped then when it is disabled',
      (s) => again(s.rollout(disabled).rollout(saying('Disabling'), 'controller-1').order({}, { type: 'DELETED' })).del('a1'),
      ['G9 a'],
    ],
    ['has not stopped while the BatchRelease exists', (s) => s.rollout(going).rollout(saying('Terminating'), 'controller-1').del('a1'), []],
    ['has not stopped if its status does not show that', (s) => again(s.rollout(going).order({}, { type: 'DELETED' })).del('a1'), []],
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
      'stops nothing if its release has to be completed',
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

describe('a DaemonSet that neither a Rollout nor a BatchRelease ever named', () => {
  const withProxy = (): Script =>
    fleet()
      .daemonSet({ name: 'proxy', uid: 'ds-2', generation: 1, observed: 1, template: 'p', annotations: {}, placement: {} })
      .pod('a9', { owner: 'proxy', ownerUid: 'ds-2', hash: 'p1' })
      .seen()
  const permitting = (s: Script): object => ({ node: 'a', podUid: 'a9', podResourceVersion: String(s.rv) })
  const cases: readonly Case[] = [
    ['keeps its pods', (s) => s.del('a9'), ['G4 a']],
    ['keeps its pods, also without preconditions', (s) => s.del('a9', { preconditions: undefined }), ['G4 a', 'G4 a']],
    ['may lose a pod to another client', (s) => s.gone('a9'), []],
    ['needs a permit once a BatchRelease names it', (s) => s.batchRelease('proxy', {}).del('a9'), ['G4 a']],
    ['may be released then', (s) => s.batchRelease('proxy', { status: { flight: { limit: 1, permits: [permitting(s)] } } }).del('a9'), []],
  ]
  judgeEach('G4', cases, { begin: withProxy })
  judgeEach('G4', [['keeps its pods, whichever DaemonSet the query names', (s) => s.del('a9'), ['G4 a']]], {
    begin: withProxy,
    query: () => ({ daemonSet: { namespace: 'demo', name: 'agent' } }),
  })
})

it('checks any number of DaemonSets, each separately', () => {
  const script = fleet().del('a1').del('b1')
  script.daemonSet({ name: 'other', uid: 'ds-9', generation: 1, observed: 1 }).pod('c9', { owner: 'other', ownerUid: 'ds-9' }).del('c9')
  const found = find(script, { guarantees: ['G1', 'G2', 'G3'] })
  expect(found.map(({ guarantee, node }) => `${guarantee} ${node}`)).toEqual(['G3 c', 'G2 c'])
})
