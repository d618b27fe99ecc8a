import { valueIn } from '@tranche/kube-types'
import { resources } from '../model/client.ts'
import { freezeDeep } from '../model/json.ts'
import { randomUuid } from '../model/random.ts'
import type { Engine } from '../engine/engine.ts'
import { timestamp } from '../model/timestamp.ts'
import { systemPriorityClasses } from '../strategies/policy-strategies.ts'

const FIRST_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

/** Creates the initial objects of every cluster: four namespaces, two priority classes. */
export function createFirstObjects(engine: Engine): void {
  const metaOf = (name: string): object => ({
    name,
    uid: randomUuid(engine.names),
    resourceVersion: '',
    creationTimestamp: timestamp(engine.clock.nowMs()),
  })
  for (const name of FIRST_NAMESPACES)
    engine.store.put(
      resources.namespaces,
      freezeDeep({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { ...metaOf(name), labels: { 'kubernetes.io/metadata.name': name } },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      }) as never,
    )
  for (const [name, value] of Object.entries(systemPriorityClasses))
    engine.store.put(
      resources.priorityClasses,
      freezeDeep({
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { ...metaOf(name), generation: 1 },
        value,
        description: valueIn(descriptions, name),
        preemptionPolicy: 'PreemptLowerPriority',
      }) as never,
    )
}

const descriptions: Readonly<Record<string, string>> = {
  'system-cluster-critical': 'For pods that the cluster needs, and that may move to another node.',
  'system-node-critical': 'For pods that their node needs, and that must stay where they are.',
}
