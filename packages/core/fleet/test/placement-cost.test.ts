import { BY_STAMPS, FleetIndex, type FleetOwner, toFleetNode } from '@tranche/fleet'
import type { LabelSelectorRequirement, NodeSelectorTerm, PodPlacement } from '@tranche/kube-types'
import { aNode } from '@tranche/testing'
import { expect, it } from 'vitest'
import { cpuMs } from '../../../../test/fakes/cpu-ms.ts'

/** About a megabyte of text, as much as an API server stores of one object. */
const MANY = 20_000
const NODES = 1_000

function many<T>(one: (at: number) => T): readonly T[] {
  return Array.from({ length: MANY }, (_, at) => one(at))
}

function terms(nodeSelectorTerms: readonly NodeSelectorTerm[]): PodPlacement {
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } }
}

function expressions(matchExpressions: readonly LabelSelectorRequirement[]): PodPlacement {
  return terms([{ matchExpressions }])
}

/** @returns CPU time (ms) of three views of a DaemonSet, each after changes of every node */
function viewsMs(spec: PodPlacement): number {
  const fleet = new FleetIndex()
  const labels = { 'kubernetes.io/os': 'linux', cpu: '4', hostname: 'h' }
  const change = (): void => {
    for (let at = 0; at < NODES; at++) {
      const taints = [{ key: 'dedicated', value: 'v', effect: 'NoSchedule' }]
      const node = aNode(`node-${at}`, { labels: { ...labels, hostname: `node-${at}` }, taints })
      fleet.nodeChanged(undefined, toFleetNode(node, undefined, BY_STAMPS))
    }
  }
  const daemonSet = { metadata: { namespace: 'tenant', uid: 'x' }, spec: { selector: { matchLabels: { app: 'x' } }, template: { spec } } }
  const own = JSON.parse(JSON.stringify(daemonSet)) as FleetOwner
  let usedMs = 0
  for (let round = 0; round < 3; round++) {
    change()
    const beganMs = cpuMs()
    fleet.view(own)
    usedMs += cpuMs() - beganMs
  }
  return usedMs
}

it.each<[sentence: string, placement: PodPlacement]>([
  ['a node selector of 20,000 labels', { nodeSelector: Object.fromEntries(many((at) => [`a${at}`, 'b'])) }],
  ['a comparison with a number of a million digits', expressions([{ key: 'cpu', operator: 'Gt', values: ['9'.repeat(1_000_000)] }])],
  ['a comparison with a million zeros and a letter', expressions([{ key: 'cpu', operator: 'Gt', values: [`${'0'.repeat(1_000_000)}x`] }])],
  ['a term of 20,000 labels that must be absent', expressions(many((at) => ({ key: `a${at}`, operator: 'DoesNotExist' })))],
  ['20,000 requirements on one label', expressions(many((at) => ({ key: 'cpu', operator: 'NotIn', values: [`${at + 5}`] })))],
  ['20,000 requirements on the number of one label', expressions(many((at) => ({ key: 'cpu', operator: 'Lt', values: [`${at + 5}`] })))],
  ['a requirement of 20,000 values', expressions([{ key: 'hostname', operator: 'NotIn', values: many((at) => `x${at}`) }])],
  ['20,000 fields of one term', terms([{ matchFields: many((at) => ({ key: 'metadata.name', operator: 'NotIn', values: [`x${at}`] })) }])],
  ['20,000 terms', terms(many((at) => ({ matchExpressions: [{ key: 'cpu', operator: 'In', values: [`x${at}`] }] })))],
  [
    '20,000 terms that hold but for one requirement',
    terms(
      many((at) => ({
        matchExpressions: [
          { key: `a${at}`, operator: 'DoesNotExist' },
          { key: 'hostname', operator: 'DoesNotExist' },
        ],
      })),
    ),
  ],
  [
    '20,000 terms that name each node',
    terms(
      many((at) => ({
        matchExpressions: [
          { key: 'hostname', operator: 'NotIn', values: [`node-${at % NODES}`] },
          { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
          { key: `a${at}`, operator: 'DoesNotExist' },
          { key: 'cpu', operator: 'DoesNotExist' },
        ],
      })),
    ),
  ],
  [
    '20,000 terms with the name of each node',
    terms(many((at) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values: [`x${at}`] }] }))),
  ],
  ['20,000 comparisons with texts', terms(many((at) => ({ matchExpressions: [{ key: 'hostname', operator: 'Gt', values: [`${at}`] }] })))],
  ['20,000 tolerations', { tolerations: many((at) => ({ key: `a${at}`, operator: 'Exists' })) }],
  ['20,000 tolerations of one key', { tolerations: many((at) => ({ key: 'dedicated', value: `a${at}` })) }],
])('%s in the placement of a DaemonSet keep the process busy for less than a second at 1,000 nodes', (_sentence, placement) => {
  expect(viewsMs(placement)).toBeLessThan(1_000)
})

it('asking 1,000 times for the view of a DaemonSet with a large placement takes less than half a second', () => {
  const placement = { nodeSelector: Object.fromEntries(many((at) => [`a${at}`, 'b'])) }
  const owner: FleetOwner = { metadata: { namespace: 'tenant', uid: 'x' }, spec: { template: { spec: placement } } }
  const fleet = new FleetIndex()
  const beganMs = cpuMs()
  for (let at = 0; at < 1_000; at++) fleet.view({ ...owner })
  expect(cpuMs() - beganMs).toBeLessThan(500)
})
