import { isSameButForCounts } from '@tranche/cluster'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

const before: DaemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {
    name: 'agent',
    namespace: 'demo',
    uid: 'a',
    resourceVersion: '7',
    generation: 2,
    labels: { team: 'x' },
    annotations: { note: 'y' },
  },
  spec: { selector: {}, template: {} },
  status: { observedGeneration: 2, numberAvailable: 1, updatedNumberScheduled: 1 },
}
const { metadata, status } = before

describe('a change of a DaemonSet', () => {
  it('that affects only counts may wait for others', () => {
    const counted = { ...status, numberAvailable: 2, updatedNumberScheduled: 2, numberUnavailable: 3 }
    expect(isSameButForCounts(before, { ...before, metadata: { ...metadata, resourceVersion: '8' }, status: counted })).toBe(true)
  })

  it.each<readonly [string, DaemonSet | undefined, DaemonSet | undefined]>([
    ['that creates it', undefined, before],
    ['that removes it', before, undefined],
    ['that recreates it', before, { ...before, metadata: { ...metadata, uid: 'b' } }],
    ['of its spec', before, { ...before, metadata: { ...metadata, generation: 3 } }],
    ['that says what has been observed', before, { ...before, status: { ...status, observedGeneration: 3 } }],
    ['of a label', before, { ...before, metadata: { ...metadata, labels: {} } }],
    ['that stops a release', before, annotated(daemonSetAnnotations.paused, 'true')],
    ['that moves the partition', before, annotated(daemonSetAnnotations.partition, '3')],
  ])('%s does not wait', (_name, previous, current) => {
    expect(isSameButForCounts(previous, current)).toBe(false)
  })
})

function annotated(key: string, value: string): DaemonSet {
  return { ...before, metadata: { ...metadata, annotations: { ...metadata.annotations, [key]: value } } }
}
