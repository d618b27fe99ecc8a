import { type Admission, admitDaemonSet, type DaemonSetRequest, rolloutInCharge } from '@tranche/admission'
import type { Rollout } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import fc from 'fast-check'
import { applyPatch } from 'rfc6902'
import { describe, expect, it } from 'vitest'
import { daemonSet, releaseKeys, rollout, type Traits } from './objects.ts'

const original = 'rollouts.kruise.io/daemonset-original-update-strategy'
const inProgressing = 'rollouts.kruise.io/in-progressing'
const untouched: Admission = { kind: 'allow', warnings: [] }

describe('a new template starts a release', () => {
  it('sets the strategy to OnDelete, stores the type and names the Rollout', () => {
    const admission = update(daemonSet(), daemonSet({ image: 'agent:v2' }))
    expect(admission).toEqual({
      kind: 'patch',
      patch: [
        {
          op: 'add',
          path: '/metadata/annotations',
          value: { [original]: 'RollingUpdate', [inProgressing]: '{"rolloutName":"node-agent"}' },
        },
        { op: 'replace', path: '/spec/updateStrategy/type', value: 'OnDelete' },
      ],
      warnings: [],
    })
  })

  it('adds its annotations one by one to existing ones', () => {
    const annotations = { 'example.com/owner': 'infra' }
    const admission = update(daemonSet({ annotations }), daemonSet({ image: 'agent:v2', annotations }))
    expect(patchOf(admission).map(({ path }) => path)).toEqual([
      '/metadata/annotations/rollouts.kruise.io~1daemonset-original-update-strategy',
      '/metadata/annotations/rollouts.kruise.io~1in-progressing',
      '/spec/updateStrategy/type',
    ])
  })

  it.each<[string, Traits, Traits, string]>([
    ['the present type', {}, {}, 'RollingUpdate'],
    ['OnDelete, when the user keeps to it', { type: 'OnDelete' }, { type: 'OnDelete' }, 'OnDelete'],
    ['the type in the same request', { type: 'OnDelete' }, { type: 'RollingUpdate' }, 'RollingUpdate'],
    [
      'the type that is already stored',
      { type: 'OnDelete', annotations: releaseKeys },
      { type: 'OnDelete', annotations: releaseKeys },
      'RollingUpdate',
    ],
    [
      'the type that is already stored, even if the request says otherwise',
      { type: 'OnDelete', annotations: { ...releaseKeys, [original]: 'OnDelete' } },
      { annotations: releaseKeys },
      'OnDelete',
    ],
    ['the type of the request and not the stored type that it claims', {}, { annotations: { [original]: 'OnDelete' } }, 'RollingUpdate'],
  ])('and stores %s', (_, before, after, type) => {
    const result = admitted(daemonSet(before), daemonSet({ image: 'agent:v2', ...after }))
    expect(result.metadata.annotations?.[original]).toBe(type)
    expect(result.metadata.annotations?.[inProgressing]).toBe('{"rolloutName":"node-agent"}')
    expect(result.spec.updateStrategy).toEqual({ type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } })
  })

  it('also without a stated strategy', () => {
    const after: DaemonSet = { ...daemonSet(), spec: { template: { metadata: { labels: { app: 'other' } } } } }
    expect(admitted(daemonSet(), after).spec.updateStrategy).toEqual({ type: 'OnDelete' })
  })

  it.each<[string, unknown]>([
    ['a field that no version of Tranche knows', { template: { spec: { containers: [], quantum: true } } }],
    ['the order of containers', { template: { spec: { containers: [{ name: 'b' }, { name: 'a' }] } } }],
  ])('when the change is %s', (_, spec) => {
    const before = { ...daemonSet(), spec: { template: { spec: { containers: [{ name: 'a' }, { name: 'b' }] } } } }
    expect(update(before, { ...daemonSet(), spec: spec as DaemonSet['spec'] })).toMatchObject({ kind: 'patch' })
  })

  it.each<[string, unknown]>([
    ['members in another order', { spec: { hostNetwork: true, containers: [] }, metadata: {} }],
    ['a null creationTimestamp', { metadata: { creationTimestamp: null }, spec: { containers: [], hostNetwork: true } }],
  ])('but not when all that differs is %s', (_, template) => {
    const before = { ...daemonSet(), spec: { template: { metadata: {}, spec: { containers: [], hostNetwork: true } } } }
    expect(update(before, { ...daemonSet(), spec: { template: template as DaemonSet['spec']['template'] } })).toEqual(untouched)
  })

  it('and says at once why it will not start', () => {
    const admission = update(daemonSet(), daemonSet({ image: 'agent:v2', maxUnavailable: 0 }))
    expect(admission).toMatchObject({
      kind: 'patch',
      warnings: [
        'the release will not start: spec.updateStrategy.rollingUpdate.maxUnavailable is 0: the budget is zero nodes, so no pod can be replaced; set it to 1 or more, or to a percentage such as "10%"',
      ],
    })
  })

  it('and warns if the new pods request more than the old ones', () => {
    const withRequest = (cpu: string): DaemonSet => {
      const container = { name: 'agent', image: `agent:${cpu}`, resources: { requests: { cpu } } }
      return { ...daemonSet(), spec: { ...daemonSet().spec, template: { metadata: {}, spec: { containers: [container] } } } }
    }
    expect(update(withRequest('100m'), withRequest('500m'))).toMatchObject({
      warnings: [
        'new pods request more than the old ones: cpu (500m instead of 100m); a node with too little room for them loses its pod, unless the ReleasePolicy has nodes.room: Check',
      ],
    })
    expect(update(withRequest('500m'), withRequest('100m'))).toMatchObject({ warnings: [] })
  })

  it('and admits a template that states no containers, which the API server rejects', () => {
    const without = { ...daemonSet().spec, template: { metadata: {}, spec: { containers: null } } } as unknown as DaemonSet['spec']
    expect(update(daemonSet(), { ...daemonSet(), spec: without })).toMatchObject({ kind: 'patch', warnings: [] })
  })
})

describe('while a release runs (G11)', () => {
  const before = daemonSet({
    image: 'agent:v2',
    type: 'OnDelete',
    annotations: releaseKeys,
    labels: { 'rollouts.kruise.io/workload-type': 'daemonset' },
  })

  it('RollingUpdate is reset to OnDelete, with a warning for the client', () => {
    const admission = update(before, { ...before, spec: daemonSet({ image: 'agent:v2' }).spec })
    expect(admission).toEqual({
      kind: 'patch',
      patch: [{ op: 'replace', path: '/spec/updateStrategy/type', value: 'OnDelete' }],
      warnings: [
        'spec.updateStrategy.type stays OnDelete while the Rollout node-agent controls this DaemonSet; it is restored to RollingUpdate when the Rollout detaches',
      ],
    })
  })

  it('also when only nodes left behind hold the DaemonSet', () => {
    const { 'rollouts.kruise.io/in-progressing': _, ...left } = releaseKeys
    const after = daemonSet({ image: 'agent:v2', annotations: left })
    expect(admitted(daemonSet({ image: 'agent:v2', type: 'OnDelete', annotations: left }), after).spec.updateStrategy?.type).toBe(
      'OnDelete',
    )
  })

  it('our annotations and label are restored when a PUT omits them', () => {
    const result = admitted(before, daemonSet({ image: 'agent:v2', type: 'OnDelete', annotations: { note: 'mine' } }))
    expect(result.metadata.annotations).toEqual({ ...releaseKeys, note: 'mine' })
    expect(result.metadata.labels).toEqual({ 'rollouts.kruise.io/workload-type': 'daemonset' })
  })

  it('our annotations are restored when a PUT changes them, and the warning names them', () => {
    const stale = { ...releaseKeys, 'rollouts.kruise.io/daemonset-partition': '0' }
    const after = { ...before, metadata: { ...before.metadata, annotations: stale } }
    expect(admitted(before, after).metadata.annotations).toEqual(releaseKeys)
    expect(update(before, after).kind === 'patch' && update(before, after)).toMatchObject({
      warnings: ['annotations of the release were restored: rollouts.kruise.io/daemonset-partition'],
    })
  })

  it('a change of anything else passes', () => {
    const after = {
      ...before,
      spec: { ...before.spec, minReadySeconds: 30, updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 3 } } },
    }
    expect(update(before, after)).toEqual(untouched)
  })

  it('writes of the controller pass', () => {
    expect(update(before, daemonSet({ image: 'agent:v2' }), { fieldManager: 'tranche-controller' })).toEqual(untouched)
  })

  it('an undo from the command line is treated like any other request', () => {
    const after = daemonSet({ image: 'agent:v1', annotations: releaseKeys, labels: before.metadata.labels! })
    expect(update(before, after, { fieldManager: 'tranche-cli' })).toMatchObject({ kind: 'patch' })
  })
})

describe('objects that the API server will reject pass', () => {
  it.each<[string, unknown]>([
    ['no spec', { metadata: daemonSet().metadata }],
    ['no template', { metadata: daemonSet().metadata, spec: {} }],
    ['a template of null', { metadata: daemonSet().metadata, spec: { template: null } }],
  ])('%s', (_, after) => {
    expect(update(daemonSet(), after as DaemonSet)).toEqual(untouched)
  })

  it('but nulls where a map or a strategy may be absent count as absent', () => {
    const after: unknown = {
      metadata: { ...daemonSet().metadata, annotations: null, labels: null },
      spec: { template: {}, updateStrategy: null },
    }
    const before = daemonSet({ annotations: releaseKeys, labels: { 'rollouts.kruise.io/workload-type': 'daemonset' } })
    const result = admitted(before, after as DaemonSet)
    expect(result.metadata.annotations).toEqual(releaseKeys)
    expect(result.metadata.labels).toEqual({ 'rollouts.kruise.io/workload-type': 'daemonset' })
    expect(result.spec.updateStrategy).toEqual({ type: 'OnDelete' })
  })
})

describe('an update passes unchanged for', () => {
  const v1 = daemonSet()
  const v2 = daemonSet({ image: 'agent:v2' })
  it.each<[string, Rollout | null]>([
    ['a DaemonSet without a Rollout', null],
    ['one whose Rollout is disabled', rollout({}, { disabled: true })],
    ['one whose Rollout is being deleted', rollout({ deletionTimestamp: '2026-01-01T00:00:00Z' })],
    [
      'one whose Rollout names another DaemonSet',
      rollout({}, { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'other' } }),
    ],
    [
      'one whose Rollout names another kind',
      rollout({}, { workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'node-agent' } }),
    ],
    ['one whose Rollout is in another namespace', rollout({ namespace: 'other' })],
  ])('%s', (_, someRollout) => {
    expect(update(v1, v2, { rollout: someRollout })).toEqual(untouched)
    expect(rolloutInCharge(v1, someRollout === null ? [] : [someRollout])).toBeNull()
  })

  it('one that is bound to another Rollout', () => {
    const annotations = { 'tranche.dev/rollout': 'first' }
    expect(update(daemonSet({ annotations }), daemonSet({ image: 'agent:v2', annotations }))).toEqual(untouched)
  })

  it('a change that keeps the template, between releases', () => {
    expect(update(v1, daemonSet({ type: 'OnDelete' }))).toEqual(untouched)
  })

  it('a DaemonSet that is created or deleted', () => {
    const asked = { rollout: rollout() }
    expect(admitDaemonSet({ operation: 'CREATE', oldObject: null, newObject: v2, ...asked })).toEqual(untouched)
    expect(admitDaemonSet({ operation: 'DELETE', oldObject: v1, newObject: null, ...asked })).toEqual(untouched)
  })
})

describe('the Rollout of a DaemonSet', () => {
  const first = rollout({ name: 'z', creationTimestamp: '2026-01-01T00:00:00Z' })
  const second = rollout({ name: 'a', creationTimestamp: '2026-01-02T00:00:00Z' })

  it('is the older one of two before it is bound', () => {
    expect(rolloutInCharge(daemonSet(), [second, first])).toBe(first)
  })

  it('is the one that it is bound to', () => {
    expect(rolloutInCharge(daemonSet({ annotations: { 'tranche.dev/rollout': 'a' } }), [first, second])).toBe(second)
  })
})

describe('properties', () => {
  const keys = fc.subarray(Object.entries(releaseKeys)).map((entries): Record<string, string> => Object.fromEntries(entries))
  const traits = fc.record({
    image: fc.constantFrom('agent:v1', 'agent:v2'),
    type: fc.constantFrom('RollingUpdate', 'OnDelete'),
    annotations: fc.oneof<fc.Arbitrary<Record<string, string>>[]>(
      keys,
      keys.map((some) => ({ ...some, 'rollouts.kruise.io/daemonset-partition': '3' })),
    ),
  })

  it('changes nothing in its own result', () => {
    fc.assert(
      fc.property(traits, traits, (before, after) => {
        const once = admitted(daemonSet(before), daemonSet(after))
        expect(patchOf(update(daemonSet(before), once))).toEqual([])
      }),
    )
  })

  it('changes only our keys and the type of the strategy', () => {
    fc.assert(
      fc.property(traits, traits, (before, after) => {
        const allowed =
          /^\/metadata\/annotations\/(rollouts\.kruise\.io|batchrelease\.rollouts\.kruise\.io|tranche\.dev)~1|^\/spec\/updateStrategy\/type$/
        expect(patchOf(update(daemonSet(before), daemonSet(after))).filter(({ path }) => !allowed.test(path))).toEqual([])
      }),
    )
  })

  it('never overwrites a stored type, and never leaves RollingUpdate with a new template', () => {
    fc.assert(
      fc.property(traits, traits, (before, after) => {
        const result = admitted(daemonSet(before), daemonSet(after))
        const remembered = before.annotations[original]
        if (remembered !== undefined) expect(result.metadata.annotations?.[original]).toBe(remembered)
        if (before.image !== after.image || remembered !== undefined) expect(result.spec.updateStrategy?.type).toBe('OnDelete')
      }),
    )
  })
})

function update(oldObject: DaemonSet, newObject: DaemonSet, changes: Partial<DaemonSetRequest> = {}): Admission {
  return admitDaemonSet({ operation: 'UPDATE', oldObject, newObject, rollout: rollout(), ...changes })
}

function admitted(oldObject: DaemonSet, newObject: DaemonSet): DaemonSet {
  const result = structuredClone(newObject)
  const errors = applyPatch(
    result,
    patchOf(update(oldObject, newObject)).map((operation) => ({ ...operation })),
  )
  expect(errors.filter((error) => error !== null)).toEqual([])
  return result
}

function patchOf(admission: Admission): readonly { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }[] {
  return admission.kind === 'patch' ? admission.patch : []
}
