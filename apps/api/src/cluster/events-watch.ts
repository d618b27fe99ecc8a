import type { EventReport } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { createReflector, joinReflectors, type KubeClient, type Reflector, resourcePaths } from '@tranche/kube-client'
import type { Logger } from '@tranche/telemetry'
import { type SeenEvent, toBoundedReport } from '@tranche/release-client'

/** A cached event: its report, and the object that it is about. */
export interface KeptEvent {
  readonly namespace: string
  /** `Kind/name` of the involved object. */
  readonly object: string
  readonly report: EventReport
  readonly resourceVersion: string
}

/** Field selector on the server side: it excludes most events of a cluster. */
const NOT_OURS = ['Pod', 'Node', 'ReplicaSet', 'Deployment', 'Job'].map((kind) => `involvedObject.kind!=${kind}`).join(',')
const kinds: readonly string[] = ['Rollout', 'BatchRelease', 'DaemonSet']

/**
 * Watches events about Rollouts, BatchReleases and DaemonSets; `byIndex('object', 'NAMESPACE/KIND/NAME')` finds those about one object.
 * Readiness does not depend on it: without the right to list events, only events are missing.
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

/** Maximum length of an object name, in characters. */
const LONGEST_NAME = 253

/** Bounds the memory per event, because many accounts may write events. */
function toKept(event: SeenEvent): KeptEvent | null {
  const { kind = '', name = '' } = event.involvedObject ?? {}
  if (!kinds.includes(kind) || name.length > LONGEST_NAME) return null
  const report = toBoundedReport(event)
  const { namespace = '', resourceVersion } = event.metadata
  return { namespace, object: report.object, resourceVersion, report }
}
