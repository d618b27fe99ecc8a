import type { BatchRelease, WatchedNode } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import { type ControllerRevision, type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import type { MovedTimes } from '@tranche/verdict'
import type { KruiseActivity } from '../kruise-activity.ts'

/**
 * How the update strategy is taken over.
 *
 * - `release`: admission makes it `OnDelete` when a release begins; it is given back when the release ends.
 * - `binding`: it is `OnDelete` from the moment the Rollout is bound until it is unbound.
 */
export type StrategyScope = 'release' | 'binding'

/** Everything one pass over one BatchRelease has read. */
export interface ReleaseView {
  readonly release: BatchRelease
  /** Undefined when it does not exist. */
  readonly daemonSet: DaemonSet | undefined
  /** ControllerRevisions that the DaemonSet controls. */
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
  /** Why the queue over which executors hear of work takes nothing; undefined or null while it does. */
  readonly queueOutage?: string | null | undefined
  /** What the DaemonSet controller was answered when it could create no pod, where nodes wait for one; undefined where nothing is known. */
  readonly createRefused?: string | undefined
  /** Whether the BatchRelease that control-info names, where it is not this one, still exists. */
  readonly otherControl: 'none' | 'exists' | 'vanished'
  readonly strategyScope: StrategyScope
  /** Another controller of native DaemonSets that is active on the cluster; null where none is. */
  readonly kruise: KruiseActivity | null
  /** Which of our fields the API server drops, and what to do; undefined where it keeps them all. */
  readonly schemaGap?: string | undefined
  /** Pods (by uid) that this process has sent release labels for, whose watch has not shown them yet. */
  readonly labelled: ReadonlySet<string>
  /** What the last touch of a permit's pod was answered with, where it said neither way: node, pod and why; null otherwise. */
  readonly unclear: string | null
  /** The API server refused to let the DaemonSet say that it is paused; the record alone permits, so a stop goes on without. */
  readonly pauseRefused: boolean
  /** What is known of updated nodes that are not well, or were not (`status.watchedNodes`, and what was seen since). */
  readonly watched: readonly WatchedNode[]
  /** When this process last wrote the status of this BatchRelease, on the monotonic clock; null when it has not. */
  readonly statusWrittenMs: number | null
  /** Since when (monotonic) the ControllerRevision of the template has been missing, or the DaemonSet was touched for it; null or undefined: it is not. */
  readonly revisionMissingSinceMs?: number | null
  /** Times of the status that the API server's clock, which was set since, stamped; undefined: none. */
  readonly movedTimes?: MovedTimes | undefined
  /** Epoch milliseconds. */
  readonly nowMs: number
  readonly monotonicMs: number
  /** Epoch milliseconds by a clock that nobody sets while the process runs: deadlines go by it. Undefined: as `nowMs`. */
  readonly steadyMs?: number | undefined
}

/** The owner reference that the annotation control-info carries; undefined where it is missing or no JSON. */
export function controlledBy(daemonSet: DaemonSet): { readonly name: string; readonly uid: string } | undefined {
  const text = daemonSet.metadata.annotations?.[daemonSetAnnotations.controlInfo]
  if (text === undefined) return undefined
  try {
    const { name, uid } = JSON.parse(text) as { name?: unknown; uid?: unknown }
    return typeof name === 'string' && typeof uid === 'string' ? { name, uid } : undefined
  } catch {
    return undefined
  }
}

/** Whether control-info names this BatchRelease. */
export function isInCharge({ release }: Pick<ReleaseView, 'release'>, daemonSet: DaemonSet): boolean {
  return controlledBy(daemonSet)?.uid === release.metadata.uid
}
