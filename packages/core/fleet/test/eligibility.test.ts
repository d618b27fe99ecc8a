import { isDesiredNode, isDesiredOnReturn } from '@tranche/fleet'
import type { LabelSelectorRequirement, NodeSelectorTerm, PodPlacement, Taint, Toleration } from '@tranche/kube-types'
import { aNode } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

const labels = { pool: 'gpu', cores: '8', note: 'eight' }

describe('isDesiredNode', () => {
  const cases: Record<string, { placement?: PodPlacement; taints?: readonly Taint[]; desired: boolean }> = {
    'wants every node when the template has no requirements': { desired: true },
    'wants the one node that the template names': { placement: { nodeName: 'node-1' }, desired: true },
    'wants no other node than the one named': { placement: { nodeName: 'node-2' }, desired: false },
    'treats an empty node name as absent': { placement: { nodeName: '' }, desired: true },
    'wants a node that carries every label of the selector': { placement: { nodeSelector: { pool: 'gpu', cores: '8' } }, desired: true },
    'does not want a node that lacks one label of the selector': {
      placement: { nodeSelector: { pool: 'gpu', zone: 'a' } },
      desired: false,
    },
    'does not want a node whose label has another value': { placement: { nodeSelector: { pool: 'cpu' } }, desired: false },

    'wants a node that matches In': { placement: expressions({ key: 'pool', operator: 'In', values: ['cpu', 'gpu'] }), desired: true },
    'does not want a node without the label of In': {
      placement: expressions({ key: 'zone', operator: 'In', values: ['a'] }),
      desired: false,
    },
    'skips a term whose In has no values': { placement: expressions({ key: 'pool', operator: 'In', values: [] }), desired: false },
    'wants a node without the label of NotIn': { placement: expressions({ key: 'zone', operator: 'NotIn', values: ['a'] }), desired: true },
    'does not want a node with a value of NotIn': {
      placement: expressions({ key: 'pool', operator: 'NotIn', values: ['gpu'] }),
      desired: false,
    },
    'skips a term whose NotIn has no values': { placement: expressions({ key: 'zone', operator: 'NotIn' }), desired: false },
    'wants a node with the label of Exists': { placement: expressions({ key: 'pool', operator: 'Exists' }), desired: true },
    'skips a term whose Exists has values': {
      placement: expressions({ key: 'pool', operator: 'Exists', values: ['gpu'] }),
      desired: false,
    },
    'wants a node without the label of DoesNotExist': { placement: expressions({ key: 'zone', operator: 'DoesNotExist' }), desired: true },
    'does not want a node with the label of DoesNotExist': {
      placement: expressions({ key: 'pool', operator: 'DoesNotExist' }),
      desired: false,
    },
    'wants a node without the label constructor, which objects of JavaScript inherit': {
      placement: expressions({ key: 'constructor', operator: 'DoesNotExist' }),
      desired: true,
    },
    'does not want a node that lacks the label toString': {
      placement: expressions({ key: 'toString', operator: 'Exists' }),
      desired: false,
    },
    'wants a node whose number is above Gt': { placement: expressions({ key: 'cores', operator: 'Gt', values: ['7'] }), desired: true },
    'does not want a node whose number equals Gt': {
      placement: expressions({ key: 'cores', operator: 'Gt', values: ['8'] }),
      desired: false,
    },
    'compares numbers, not texts': { placement: expressions({ key: 'cores', operator: 'Lt', values: ['10'] }), desired: true },
    'does not want a node whose number equals Lt': {
      placement: expressions({ key: 'cores', operator: 'Lt', values: ['8'] }),
      desired: false,
    },
    'does not want a node with the value of an In of a label that it lacks': {
      placement: expressions({ key: 'pool', operator: 'In', values: ['cpu'] }),
      desired: false,
    },
    'wants a node whose value is not among those of NotIn': {
      placement: expressions({ key: 'pool', operator: 'NotIn', values: ['cpu'] }),
      desired: true,
    },
    'skips a term whose DoesNotExist has values': {
      placement: expressions({ key: 'zone', operator: 'DoesNotExist', values: ['a'] }),
      desired: false,
    },
    'does not compare by Lt a label that is not a number': {
      placement: expressions({ key: 'note', operator: 'Lt', values: ['9'] }),
      desired: false,
    },
    'does not compare by Lt a label that is missing': {
      placement: expressions({ key: 'none', operator: 'Lt', values: ['9'] }),
      desired: false,
    },
    'does not compare with a value that is not a number': {
      placement: expressions({ key: 'cores', operator: 'Lt', values: ['many'] }),
      desired: false,
    },
    'does not compare a label that is not a number': {
      placement: expressions({ key: 'note', operator: 'Gt', values: ['1'] }),
      desired: false,
    },
    'skips a term with an unknown operator': {
      placement: expressions({ key: 'pool', operator: 'Like', values: ['gpu'] }),
      desired: false,
    },
    'wants a node only where every expression of a term matches': {
      placement: expressions({ key: 'pool', operator: 'Exists' }, { key: 'zone', operator: 'Exists' }),
      desired: false,
    },
    'wants a node that matches any of the terms': {
      placement: terms([
        { matchExpressions: [{ key: 'zone', operator: 'Exists' }] },
        { matchExpressions: [{ key: 'pool', operator: 'Exists' }] },
      ]),
      desired: true,
    },
    'matches nothing by an empty term': { placement: terms([{}]), desired: false },
    'matches nothing by an empty list of terms': { placement: terms([]), desired: false },
    'wants the node whose name a field names': {
      placement: fields({ key: 'metadata.name', operator: 'In', values: ['node-1'] }),
      desired: true,
    },
    'does not want a node whose name NotIn names': {
      placement: fields({ key: 'metadata.name', operator: 'NotIn', values: ['node-1'] }),
      desired: false,
    },
    'wants a node whose name NotIn does not name': {
      placement: fields({ key: 'metadata.name', operator: 'NotIn', values: ['node-2'] }),
      desired: true,
    },
    'does not want a node whose name differs from the field': {
      placement: fields({ key: 'metadata.name', operator: 'In', values: ['node-2'] }),
      desired: false,
    },
    'skips a term with an unknown field operator': {
      placement: fields({ key: 'metadata.name', operator: 'Exists', values: ['node-2'] }),
      desired: false,
    },
    'skips a term whose field has no values': { placement: fields({ key: 'metadata.name', operator: 'In' }), desired: false },
    'wants every node where the affinity requires nothing': { placement: { affinity: { nodeAffinity: {} } }, desired: true },
    'wants every node when the affinity is only about pods': { placement: { affinity: {} }, desired: true },
    'matches nothing by a requirement without terms': {
      placement: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } } },
      desired: false,
    },
    'skips a term whose field has two values': {
      placement: fields({ key: 'metadata.name', operator: 'In', values: ['node-1', 'node-2'] }),
      desired: false,
    },
    'skips a term with a field other than the name': {
      placement: fields({ key: 'metadata.uid', operator: 'In', values: ['node-1'] }),
      desired: false,
    },
    'requires both selector and affinity': {
      placement: { nodeSelector: { pool: 'gpu' }, ...expressions({ key: 'zone', operator: 'Exists' }) },
      desired: false,
    },

    'does not want a node with a NoSchedule taint': { taints: [taint('NoSchedule')], desired: false },
    'does not want a node with a NoExecute taint': { taints: [taint('NoExecute')], desired: false },
    'ignores a PreferNoSchedule taint': { taints: [taint('PreferNoSchedule')], desired: true },
    'wants a node whose taint is tolerated by key, value and effect': tolerating(
      { key: 'dedicated', value: 'db', effect: 'NoSchedule' },
      true,
    ),
    'tolerates every effect where the toleration names none': tolerating({ key: 'dedicated', value: 'db' }, true),
    'does not tolerate another effect': tolerating({ key: 'dedicated', value: 'db', effect: 'NoExecute' }, false),
    'does not tolerate another value': tolerating({ key: 'dedicated', operator: 'Equal', value: 'web' }, false),
    'does not tolerate another key': tolerating({ key: 'other', operator: 'Exists' }, false),
    'tolerates every value by Exists': tolerating({ key: 'dedicated', operator: 'Exists' }, true),
    'tolerates everything by Exists without a key': tolerating({ operator: 'Exists' }, true),
    'tolerates every effect where the toleration names an empty one': tolerating(
      { key: 'dedicated', operator: 'Exists', effect: '' },
      true,
    ),
    'tolerates every key by Exists with an empty key': tolerating({ key: '', operator: 'Exists' }, true),
    'does not tolerate its value by an unknown operator': tolerating({ key: 'dedicated', operator: 'Gt', value: 'db' }, false),
    'tolerates nothing by an unknown operator': tolerating({ key: 'dedicated', operator: 'Gt', value: '1' }, false),
    'wants a node only where every taint is tolerated': {
      placement: { tolerations: [{ key: 'dedicated', operator: 'Exists' }] },
      taints: [taint('NoSchedule'), { key: 'other', effect: 'NoSchedule' }],
      desired: false,
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { placement = {}, taints = [], desired }) => {
    expect(isDesiredNode(placement, aNode('node-1', { labels, taints }))).toBe(desired)
  })

  it.each([
    ['not-ready', 'NoExecute'],
    ['unreachable', 'NoExecute'],
    ['disk-pressure', 'NoSchedule'],
    ['memory-pressure', 'NoSchedule'],
    ['pid-pressure', 'NoSchedule'],
    ['unschedulable', 'NoSchedule'],
  ])('tolerates %s:%s by itself, and no other effect of it', (name, effect) => {
    const key = `node.kubernetes.io/${name}`
    const other = effect === 'NoExecute' ? 'NoSchedule' : 'NoExecute'
    expect(isDesiredNode({}, aNode('node-1', { taints: [{ key, effect }] }))).toBe(true)
    expect(isDesiredNode({}, aNode('node-1', { taints: [{ key, effect: other }] }))).toBe(false)
  })

  it('tolerates network-unavailable only for pods on the network of the host', () => {
    const node = aNode('node-1', { taints: [{ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }] })
    expect(isDesiredNode({}, node)).toBe(false)
    expect(isDesiredNode({ hostNetwork: true }, node)).toBe(true)
  })

  it('ignores whether the node is Ready', () => {
    expect(isDesiredNode({}, aNode('node-1', { ready: false }))).toBe(true)
  })
})

describe('isDesiredOnReturn', () => {
  const away = [
    { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
    { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
  ]
  const cases: Record<string, { placement?: PodPlacement; taints: readonly Taint[]; want: boolean }> = {
    'holds for a node that is unreachable': { taints: away, want: true },
    'does not hold without a taint': { taints: [], want: false },
    'does not hold for a taint of a user': { taints: [taint('NoSchedule')], want: false },
    'does not hold for a taint of a user beside that of the failure': { taints: [...away, taint('NoSchedule')], want: false },
    'holds beside a taint of a user that is tolerated': {
      placement: { tolerations: [{ key: 'dedicated', operator: 'Exists' }] },
      taints: [...away, taint('NoSchedule')],
      want: true,
    },
    'holds beside a cordon': { taints: [...away, { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }], want: true },
    'does not hold where the node selector excludes the node': { placement: { nodeSelector: { pool: 'cpu' } }, taints: away, want: false },
    'does not hold where the affinity excludes the node': {
      placement: expressions({ key: 'pool', operator: 'DoesNotExist' }),
      taints: away,
      want: false,
    },
    'does not hold for another node than the one named': { placement: { nodeName: 'node-2' }, taints: away, want: false },
    'does not hold for a node that the cloud has not initialized yet': {
      taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
      want: false,
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { placement = {}, taints, want }) => {
    const node = aNode('node-1', { labels, taints })
    expect([isDesiredNode(placement, node), isDesiredOnReturn(placement, node)]).toEqual([taints.length === 0, want])
  })

  it.each([
    ['node.kubernetes.io/not-ready', 'NoSchedule'],
    ['node.kubernetes.io/unreachable', 'NoSchedule'],
    ['node.kubernetes.io/out-of-service', 'NoExecute'],
    ['node.kubernetes.io/out-of-service', 'NoSchedule'],
    ['node.kubernetes.io/network-unavailable', 'NoSchedule'],
    ['node.cloudprovider.kubernetes.io/shutdown', 'NoSchedule'],
  ])('holds for the taint %s:%s', (key, effect) => {
    expect(isDesiredOnReturn({}, aNode('node-1', { taints: [{ key, effect }] }))).toBe(true)
  })
})

function terms(nodeSelectorTerms: readonly NodeSelectorTerm[]): PodPlacement {
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } }
}

function expressions(...matchExpressions: readonly LabelSelectorRequirement[]): PodPlacement {
  return terms([{ matchExpressions }])
}

function fields(...matchFields: readonly LabelSelectorRequirement[]): PodPlacement {
  return terms([{ matchFields }])
}

function taint(effect: string): Taint {
  return { key: 'dedicated', value: 'db', effect }
}

function tolerating(toleration: Toleration, desired: boolean): { placement: PodPlacement; taints: readonly Taint[]; desired: boolean } {
  return { placement: { tolerations: [toleration] }, taints: [taint('NoSchedule')], desired }
}
