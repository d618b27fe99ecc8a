import type { EventReport, Rollout } from '@tranche/api-schema'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { compareResourceVersions, type KubeObject, type ObjectKey } from '@tranche/kube-types'
import { getOrNone, workloadKey } from './read-action-facts.ts'
import type { AskOptions } from './release-client.ts'
import { rolloutNotFound } from './rollout-not-found.ts'

/** Event of core/v1, with the fields that are used. */
export interface SeenEvent extends KubeObject {
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly uid?: string }
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly eventTime?: string | null
  readonly firstTimestamp?: string | null
  readonly lastTimestamp?: string | null
  readonly source?: { readonly component?: string }
  readonly reportingComponent?: string
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null
}

const kinds: readonly string[] = ['Rollout', 'BatchRelease', 'DaemonSet']

/**
 * Reads the events about a Rollout, its BatchRelease and its DaemonSet.
 *
 * @returns newest first
 * @throws {AppError} ROLLOUT_NOT_FOUND
 */
export async function readEvents(
  { client }: { readonly client: KubeClient },
  key: ObjectKey,
  options: AskOptions = {},
): Promise<readonly EventReport[]> {
  const rollout = await getOrNone<Rollout>(client, resourcePaths.rollouts, key, options)
  if (rollout === undefined) throw rolloutNotFound(key)
  const daemonSet = workloadKey(rollout).name
  const lists = await Promise.all(
    [...new Set([key.name, daemonSet])].map((name) =>
      client.list<SeenEvent>(resourcePaths.events, { ...options, namespace: key.namespace, fieldSelector: `involvedObject.name=${name}` }),
    ),
  )
  return lists
    .flatMap(({ items }) => items)
    .filter(
      ({ involvedObject: { kind = '', name } = {} }) => kinds.includes(kind) && name === (kind === 'DaemonSet' ? daemonSet : key.name),
    )
    .map((event) => ({ resourceVersion: event.metadata.resourceVersion, report: toEventReport(event) }))
    .sort(newestFirst)
    .map(({ report }) => report)
}

/** Timestamps are whole seconds: within one second, the last written event is newest. */
export function newestFirst(a: StampedEvent, b: StampedEvent): number {
  if (a.report.at !== b.report.at) return a.report.at < b.report.at ? 1 : -1
  return compareResourceVersions(b.resourceVersion, a.resourceVersion)
}

/** Event with the version of its object. */
export interface StampedEvent {
  readonly report: EventReport
  readonly resourceVersion: string
}

/** Converts an event to its report. */
export function toEventReport(event: SeenEvent): EventReport {
  const { involvedObject, type, reason = '', message = '', series, metadata } = event
  const at = series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp ?? metadata.creationTimestamp
  const count = series?.count ?? event.count
  return {
    at: at ?? '',
    type: type === 'Warning' ? 'Warning' : 'Normal',
    reason,
    object: `${involvedObject?.kind ?? ''}/${involvedObject?.name ?? ''}`,
    message,
    ...(count !== undefined && { count }),
  }
}
