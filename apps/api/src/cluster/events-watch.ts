import type { EventReport } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { createReflector, type KubeClient, type Reflector, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'

/** An event that is kept: what people are shown of it, and what it is about. */
export interface KeptEvent {
  readonly namespace: string
  /** `Kind/name` of what it is about. */
  readonly object: string
  readonly report: EventReport
  readonly resourceVersion: string
}

/** The fields of core/v1 Event that we read. */
interface KubeEvent extends KubeObject {
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly namespace?: string }
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly eventTime?: string | null
  readonly firstTimestamp?: string | null
  readonly lastTimestamp?: string | null
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null
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
}): Reflector<KeptEvent> {
  return createReflector<KeptEvent, KubeEvent>({
    ...options,
    resource: resourcePaths.events,
    scope: { fieldSelector: NOT_OURS },
    transform: toKept,
    indexers: { object: ({ namespace, object }) => `${namespace}/${object}` },
  })
}

function toKept(event: KubeEvent): KeptEvent | null {
  const { kind = '', name = '', namespace = event.metadata.namespace ?? '' } = event.involvedObject ?? {}
  if (!kinds.includes(kind)) return null
  const at =
    event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp ?? event.metadata.creationTimestamp
  const count = event.series?.count ?? event.count
  return {
    namespace,
    object: `${kind}/${name}`,
    resourceVersion: event.metadata.resourceVersion,
    report: {
      at: at ?? '',
      type: event.type === 'Warning' ? 'Warning' : 'Normal',
      reason: event.reason ?? '',
      object: `${kind}/${name}`,
      message: event.message ?? '',
      ...(count !== undefined && { count }),
    },
  }
}
