import type { EventReport } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { createReflector, joinReflectors, type KubeClient, type Reflector, resourcePaths } from '@tranche/kube-client'
import type { Logger } from '@tranche/log'
import { type SeenEvent, toEventReport } from '@tranche/release-client'

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

/** The longest message and reason that are kept, in characters: those of events.k8s.io. The API server takes longer ones in core/v1. */
const LONGEST_MESSAGE = 1_024
const LONGEST_REASON = 128
/** The longest name of an object, in characters. */
const LONGEST_NAME = 253

/** Many accounts may write events: what one event takes of our memory is bounded. */
function toKept(event: SeenEvent): KeptEvent | null {
  const { kind = '', name = '' } = event.involvedObject ?? {}
  if (!kinds.includes(kind) || name.length > LONGEST_NAME) return null
  const { reason, message, ...report } = toEventReport(event)
  const { namespace = '', resourceVersion } = event.metadata
  const kept = { ...report, reason: cut(reason, LONGEST_REASON), message: cut(message, LONGEST_MESSAGE) }
  return { namespace, object: report.object, resourceVersion, report: kept }
}

/** The cut text holds nothing of the long one in memory. */
function cut(text: string, most: number): string {
  return text.length <= most ? text : `${Buffer.from(text.slice(0, most - 1).toWellFormed()).toString()}…`
}
