import type { EventReport } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { createReflector, joinReflectors, type KubeClient, type Reflector, resourcePaths } from '@tranche/kube-client'
import type { Logger } from '@tranche/log'
import { type SeenEvent, toEventReport } from '@tranche/steering'

/** An event that is kept: what people are shown of it, and what it is about. */
export interface KeptEvent {
  readonly namespace: string
  /** `Kind/name` of what it is about. */
  readonly object: string
  readonly report: EventReport
  readonly resourceVersion: string
}

/** Of nearly all events of a cluster nothing is even sent to us. */
const NOT_OURS = ['Pod', 'Node', 'ReplicaSet', 'Deployment', 'Job'].map((kind) => `involvedObject.kind!=${kind}`).join(',')
const kinds: readonly string[] = ['Rollout', 'BatchRelease', 'DaemonSet']

/**
 * Watches events about Rollouts, BatchReleases and DaemonSets; `byIndex('object', 'NAMESPACE/KIND/NAME')` finds those about one. It
 * need not sync: an API server that does not let us list events takes nothing but them away.
 */
export function watchEvents(options: {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  readonly seed: number
  /** @default every namespace */
  readonly namespaces?: readonly string[]
}): Reflector<KeptEvent> {
  const { namespaces, ...ports } = options
  const watch = (scope: { readonly namespace?: string }): Reflector<KeptEvent> =>
    createReflector<KeptEvent, SeenEvent>({
      ...ports,
      resource: resourcePaths.events,
      scope: { ...scope, fieldSelector: NOT_OURS },
      transform: toKept,
      indexers: { object: ({ namespace, object }) => `${namespace}/${object}` },
    })
  if (namespaces === undefined) return watch({})
  return joinReflectors(new Map(namespaces.map((namespace) => [namespace, watch({ namespace })])))
}

function toKept(event: SeenEvent): KeptEvent | null {
  if (!kinds.includes(event.involvedObject?.kind ?? '')) return null
  const report = toEventReport(event)
  const { namespace = '', resourceVersion } = event.metadata
  return { namespace, object: report.object, resourceVersion, report }
}
