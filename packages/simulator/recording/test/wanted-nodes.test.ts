import type { RecordedNode, RecordedPlacement, RecordedRequirement } from '@tranche/recording'
import { describe, expect, it } from 'vitest'
import { find, fleet } from './script.ts'

type Row = readonly [name: string, placement: RecordedPlacement, node: Partial<RecordedNode>, wanted: boolean]

const zone = { labels: { zone: 'x', cores: '8' } }
const gpu = { taints: [{ key: 'gpu', value: 'a100', effect: 'NoSchedule' }] }
const affinity = (...matchExpressions: readonly RecordedRequirement[]): RecordedPlacement => ({ nodeSelectorTerms: [{ matchExpressions }] })
const tainted = (key: string, effect: string): Partial<RecordedNode> => ({ taints: [{ key: `node.kubernetes.io/${key}`, effect }] })

const rows: readonly Row[] = [
  ['without a condition', {}, {}, true],
  ['NotReady', {}, { ready: 'False' }, true],
  ['of the name that the template gives', { nodeName: 'a' }, {}, true],
  ['of another name', { nodeName: 'b' }, {}, false],
  ['with every label', { nodeSelector: { zone: 'x' } }, zone, true],
  ['with a label of another value', { nodeSelector: { zone: 'y' } }, zone, false],
  ['without the label', { nodeSelector: { disk: 'ssd' } }, zone, false],
  ['without any term', { nodeSelectorTerms: [] }, zone, false],
  ['with an empty term', { nodeSelectorTerms: [{}] }, zone, false],
  ['in one of two terms', { nodeSelectorTerms: [{}, { matchExpressions: [{ key: 'zone', operator: 'Exists' }] }] }, zone, true],
  ['in a list', affinity({ key: 'zone', operator: 'In', values: ['w', 'x'] }), zone, true],
  ['in no list', affinity({ key: 'zone', operator: 'In', values: ['w'] }), zone, false],
  ['out of a list', affinity({ key: 'zone', operator: 'NotIn', values: ['w'] }), zone, true],
  ['without what is to be out of a list', affinity({ key: 'disk', operator: 'NotIn', values: ['w'] }), zone, true],
  ['in what it is to be out of', affinity({ key: 'zone', operator: 'NotIn', values: ['x'] }), zone, false],
  ['with a label that must not be', affinity({ key: 'zone', operator: 'DoesNotExist' }), zone, false],
  ['without it', affinity({ key: 'disk', operator: 'DoesNotExist' }), zone, true],
  ['with no label of a name that objects inherit', affinity({ key: 'constructor', operator: 'Exists' }), zone, false],
  ['without a label of such a name', affinity({ key: '__proto__', operator: 'DoesNotExist' }), zone, true],
  ['with more than', affinity({ key: 'cores', operator: 'Gt', values: ['4'] }), zone, true],
  ['with just as much', affinity({ key: 'cores', operator: 'Gt', values: ['8'] }), zone, false],
  ['with less than', affinity({ key: 'cores', operator: 'Lt', values: ['16'] }), zone, true],
  ['with no number to compare', affinity({ key: 'zone', operator: 'Gt', values: ['4'] }), zone, false],
  ['under an operator that there is none of', affinity({ key: 'zone', operator: 'Near', values: ['x'] }), zone, false],
  ['with only one of two conditions', affinity({ key: 'zone', operator: 'Exists' }, { key: 'disk', operator: 'Exists' }), zone, false],
  ['of the name in a field', { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }] }, {}, true],
  [
    'of none of two names in a field',
    { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }] }] },
    {},
    false,
  ],
  ['under another field', { nodeSelectorTerms: [{ matchFields: [{ key: 'spec.x', operator: 'In', values: ['a'] }] }] }, {}, false],
  ['with a taint', {}, gpu, false],
  ['with a taint that is only preferred', {}, { taints: [{ key: 'gpu', effect: 'PreferNoSchedule' }] }, true],
  ['with a taint that is tolerated', { tolerations: [{ key: 'gpu', operator: 'Exists' }] }, gpu, true],
  ['with any taint where all are tolerated', { tolerations: [{ operator: 'Exists' }] }, gpu, true],
  ['with the value that is tolerated', { tolerations: [{ key: 'gpu', value: 'a100', effect: 'NoSchedule' }] }, gpu, true],
  ['with another value', { tolerations: [{ key: 'gpu', operator: 'Equal', value: 'h100' }] }, gpu, false],
  ['with another effect', { tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }] }, gpu, false],
  ['that is cordoned', {}, tainted('unschedulable', 'NoSchedule'), true],
  ['that is unreachable', {}, tainted('unreachable', 'NoExecute'), true],
  ['that is unreachable, for new pods', {}, tainted('unreachable', 'NoSchedule'), false],
  ['without network', {}, tainted('network-unavailable', 'NoSchedule'), false],
  ['without network that pods need not', { hostNetwork: true }, tainted('network-unavailable', 'NoSchedule'), true],
]

describe('a wanted node', () => {
  it.each(rows)('%s', (_name, placement, node, wanted) => {
    const script = fleet().node('a', node).daemonSet({ placement }).seen().wait(1).del('a1')
    const isUnwanted = find(script, { guarantees: ['G4'] }).some(({ text }) => text === 'the DaemonSet does not place a pod on the node')
    expect(isUnwanted).toBe(!wanted)
  })
})
