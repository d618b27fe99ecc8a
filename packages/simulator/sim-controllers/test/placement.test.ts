import type { PodPlacement, Taint } from '@tranche/kube-types'
import { buildPod, isTolerated, nodeEligibility, nodeOfPod, withAutomaticTolerations } from '@tranche/sim-controllers'
import { describe, expect, it } from 'vitest'
import { daemonSet, node, pod } from './builders.ts'

const runs = { shouldRun: true, shouldContinue: true }
const stays = { shouldRun: false, shouldContinue: true }
const goes = { shouldRun: false, shouldContinue: false }

const eligibility: readonly [
  name: string,
  placement: PodPlacement,
  labels: Record<string, string>,
  taints: readonly Taint[],
  want: unknown,
][] = [
  ['a plain template runs on a plain node', {}, {}, [], runs],
  ['the node named by the template is eligible', { nodeName: 'a' }, {}, [], runs],
  ['any other node is not', { nodeName: 'b' }, {}, [], goes],
  ['a node selector that matches', { nodeSelector: { colour: 'blue' } }, { colour: 'blue' }, [], runs],
  ['a node selector that does not match', { nodeSelector: { colour: 'blue' } }, { colour: 'green' }, [], goes],
  ['node name and selector disagree', { nodeName: 'a', nodeSelector: { colour: 'blue' } }, {}, [], goes],
  ['affinity by In', affinity([label('zone', 'In', ['x', 'y'])]), { zone: 'y' }, [], runs],
  ['affinity by NotIn accepts a node without the label', affinity([label('zone', 'NotIn', ['x'])]), {}, [], runs],
  ['affinity by Exists', affinity([label('zone', 'Exists')]), {}, [], goes],
  ['affinity by DoesNotExist', affinity([label('zone', 'DoesNotExist')]), {}, [], runs],
  ['affinity by Exists of a label that objects of JavaScript inherit', affinity([label('constructor', 'Exists')]), {}, [], goes],
  ['affinity by DoesNotExist of such a label', affinity([label('__proto__', 'DoesNotExist')]), {}, [], runs],
  ['affinity by Gt', affinity([label('cores', 'Gt', ['4'])]), { cores: '8' }, [], runs],
  ['affinity by Lt', affinity([label('cores', 'Lt', ['4'])]), { cores: '8' }, [], goes],
  ['inside a term everything must hold', affinity([label('zone', 'In', ['x']), label('cores', 'Exists')]), { zone: 'x' }, [], goes],
  ['terms are alternatives', affinity([label('zone', 'In', ['x'])], [label('zone', 'In', ['y'])]), { zone: 'y' }, [], runs],
  ['an empty term matches nothing', affinity([]), {}, [], goes],
  ['no terms match nothing', affinity(), {}, [], goes],
  [
    'a term that cannot be read is skipped',
    affinity([label('zone', 'Near', ['x'])], [label('zone', 'In', ['x'])]),
    { zone: 'x' },
    [],
    runs,
  ],
  ['NoSchedule keeps new pods off', {}, {}, [taint('NoSchedule')], stays],
  ['NoExecute drives pods away', {}, {}, [taint('NoExecute')], goes],
  ['both drive pods away', {}, {}, [taint('NoSchedule'), taint('NoExecute')], goes],
  [
    'NoSchedule beside a tolerated NoExecute keeps',
    tolerates({ key: 'gpu', effect: 'NoExecute' }),
    {},
    [taint('NoSchedule'), taint('NoExecute')],
    stays,
  ],
  ['PreferNoSchedule is ignored', {}, {}, [taint('PreferNoSchedule')], runs],
  ['a toleration by Exists', tolerates({ key: 'gpu', operator: 'Exists' }), {}, [taint('NoSchedule')], runs],
  ['a toleration of the value', tolerates({ key: 'gpu', value: 'yes' }), {}, [taint('NoSchedule', 'yes')], runs],
  ['a toleration of another value', tolerates({ key: 'gpu', value: 'no' }), {}, [taint('NoSchedule', 'yes')], stays],
  ['a toleration without key tolerates all', tolerates({ operator: 'Exists' }), {}, [taint('NoExecute')], runs],
  ['a node not ready', {}, {}, [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }], runs],
  ['an unreachable node', {}, {}, [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }], runs],
  ['a cordoned node', {}, {}, [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }], runs],
  ['memory pressure', {}, {}, [{ key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' }], runs],
  ['no network yet', {}, {}, [{ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }], stays],
  [
    'no network yet, on the host network',
    { hostNetwork: true },
    {},
    [{ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }],
    runs,
  ],
]

describe('nodeEligibility', () => {
  it.each(eligibility)('23 %s', (_name, placement, labels, taints, want) => {
    expect(nodeEligibility(placement, node('a', labels, taints))).toEqual(want)
  })
})

describe('buildPod', () => {
  it('pins the pod to its node, and keeps the rest of the affinity', () => {
    const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 }] }
    const template = daemonSet({ placement: { nodeSelector: { colour: 'blue' }, affinity: { nodeAffinity: preferred as never } } })
    const built = buildPod(template, 'node-7', '7b') as { readonly spec: Record<string, unknown> }
    expect(built.spec['affinity']).toEqual({
      nodeAffinity: {
        ...preferred,
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-7'] }] }],
        },
      },
    })
    expect(built.spec).toMatchObject({ nodeSelector: { colour: 'blue' } })
    expect(built.spec).not.toHaveProperty('nodeName')
  })

  it('sets the labels for hash and template generation, and the DaemonSet as owner', () => {
    expect(buildPod(daemonSet({ annotations: { 'deprecated.daemonset.template.generation': '3' } }), 'a', '7b')).toMatchObject({
      metadata: {
        generateName: 'agent-',
        labels: { app: 'agent', 'controller-revision-hash': '7b', 'pod-template-generation': '3' },
        ownerReferences: [{ kind: 'DaemonSet', name: 'agent', uid: 'ds', controller: true, blockOwnerDeletion: true }],
      },
    })
  })

  it('adds a toleration only where the template lacks it', () => {
    const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }
    expect(withAutomaticTolerations([own], false).filter(({ key }) => key === own.key)).toEqual([own])
    expect(withAutomaticTolerations([], false)).toHaveLength(6)
    expect(withAutomaticTolerations([], true)).toHaveLength(7)
  })
})

describe('withAutomaticTolerations', () => {
  it('makes a temporary one of the template permanent, in its position', () => {
    const short = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }
    const { tolerationSeconds: _none, ...lasting } = short
    const all = withAutomaticTolerations([short, { key: 'gpu', operator: 'Exists' }], false)
    expect(all.slice(0, 2)).toEqual([lasting, { key: 'gpu', operator: 'Exists' }])
    expect(all).toHaveLength(7)
  })

  it.each(['Lt', 'Gt'])('treats %s as an unknown operator: the feature gate is off in 1.36', (operator) => {
    const tolerations = [{ key: 'cores', operator, value: '8', effect: 'NoSchedule' }]
    expect(isTolerated({ key: 'cores', value: '8', effect: 'NoSchedule' }, tolerations)).toBe(false)
  })
})

describe('nodeOfPod', () => {
  it('reads the node of the binding, or else of the affinity', () => {
    expect(nodeOfPod(pod('a'))).toBe('a')
    expect(nodeOfPod(pod('a', 'unbound'))).toBe('a')
    expect(nodeOfPod({ ...pod('a'), spec: {} })).toBeUndefined()
  })
})

function affinity(...terms: readonly (readonly NonNullable<unknown>[])[]): PodPlacement {
  const nodeSelectorTerms = terms.map((matchExpressions) => ({ matchExpressions })) as never
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } }
}

function label(key: string, operator: string, values?: readonly string[]): NonNullable<unknown> {
  return { key, operator, ...(values && { values }) }
}

function tolerates(toleration: NonNullable<PodPlacement['tolerations']>[number]): PodPlacement {
  return { tolerations: [toleration] }
}

function taint(effect: string, value?: string): Taint {
  return { key: 'gpu', effect, ...(value !== undefined && { value }) }
}
