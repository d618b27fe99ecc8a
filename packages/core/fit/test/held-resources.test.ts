import { type PodToCome, shortageOn } from '@tranche/fit'
import type { Node, Pod } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

const node = { metadata: { name: 'n1', uid: 'n1' }, spec: {}, status: { allocatable: { memory: '8Gi', pods: '10' } } } as unknown as Node
const owner = { metadata: { namespace: 'demo', uid: 'agent' }, spec: { selector: { matchLabels: { app: 'agent' } } } }
const infeasible = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }]
const main = (memory: string, has: object): object => ({
  spec: { containers: [{ name: 'main', ...asking(memory) }] },
  status: { containerStatuses: [{ name: 'main', ...has }] },
})

describe('the room that a pod leaves while it is resized', () => {
  it.each<[sentence: string, pod: object, free: string]>([
    ['is what it asks for, without a status', { spec: { containers: [{ name: 'main', ...asking('2Gi') }] } }, '6Gi'],
    ['counts what is still allocated', main('2Gi', { allocatedResources: { memory: '6Gi' } }), '2Gi'],
    ['counts what its container still has', main('2Gi', asking('6Gi')), '2Gi'],
    ['counts what it asks for beyond what it has', main('6Gi', { allocatedResources: { memory: '2Gi' }, ...asking('2Gi') }), '2Gi'],
    ['ignores what no other container has', main('2Gi', { name: 'other', allocatedResources: { memory: '6Gi' } }), '6Gi'],
    [
      'counts what it has where the node can never give what it asks for',
      { ...main('7Gi', {}), status: { conditions: infeasible, containerStatuses: [{ name: 'main', ...asking('2Gi') }] } },
      '6Gi',
    ],
    [
      'counts a sidecar that is resized',
      {
        spec: { initContainers: [{ name: 'side', restartPolicy: 'Always', ...asking('1Gi') }] },
        status: { initContainerStatuses: [{ name: 'side', ...asking('5Gi') }] },
      },
      '3Gi',
    ],
    [
      'counts requests of the whole pod',
      { spec: { containers: [{ name: 'main' }], ...asking('2Gi') }, status: { allocatedResources: { memory: '5Gi' } } },
      '3Gi',
    ],
  ])('%s', (_sentence, parts, free) => {
    const resizing = { metadata: { namespace: 'team-a', name: 'cache', uid: 'cache' }, ...parts } as unknown as Pod
    const spec = { containers: [asking('8Gi')] } as PodToCome['spec']
    expect(shortageOn({ node, pods: [resizing], pending: [] }, { owner, spec, priority: 0 })).toContain(
      `memory: 8Gi requested, ${free} of 8Gi`,
    )
  })
})

function asking(memory: string): object {
  return { resources: { requests: { memory } } }
}
