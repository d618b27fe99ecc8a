import type { BatchRelease, WatchedNode } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import { type ControllerRevision, type DaemonSet, daemonSetAnnotations, readJson } from '@tranche/kube-types'
import type { MovedTimes } from '@tranche/verdict'
import type { RejectablePatch } from './batch-release-plan.ts'
import type { GroupView } from './group-view.ts'
import type { KruiseActivity } from './kruise-activity.ts'

/**
 * When the update strategy is taken over.
 *
 * - `release`: admission sets it to `OnDelete` when a release begins; it is restored when the release ends.
 * - `binding`: it is `OnDelete` from the moment the Rollout is bound until it is unbound.
 */
export type StrategyScope = 'release' | 'binding'

/** A live list of the desired nodes of a DaemonSet. */
export interface LiveNodeList {
  /** Nodes that it has, and our view does not show as desired; null where it could not be read, or is too old. */
  readonly unseen: readonly string[] | null
  /** When (monotonic) nodes may be listed again. */
  readonly againMs: number
}

/** Everything one pass over one BatchRelease has read. */
export interface ReleaseView {
  readonly release: BatchRelease
  /** Undefined when it does not exist. */
  readonly daemonSet: DaemonSet | undefined
  /** ControllerRevisions that the DaemonSet controls. */
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
  /** resourceVersion that this process's pod watch had reached when `fleet` was read (F2). */
  readonly podsSeen: string
  /** Why the job queue of the executors accepts nothing; undefined or null while it works. */
  readonly queueOutage?: string | null | undefined
  /** The API server's answer when the DaemonSet controller could not create a pod that nodes wait for; undefined where unknown. */
  readonly createRefused?: string | undefined
  /** State of another BatchRelease that control-info names. */
  readonly otherControl: 'none' | 'exists' | 'vanished'
  readonly strategyScope: StrategyScope
  /** OpenKruise's controller for native DaemonSets, active on the cluster; null where it is not. */
  readonly kruise: KruiseActivity | null
  /** Fields that the API server drops, and the fix; undefined where it keeps them all. */
  readonly schemaGap?: string | undefined
  /** UIDs of pods for which this process sent release labels that its watch has not shown yet. */
  readonly labelled: ReadonlySet<string>
  /** Answer to the last touch of a permit's pod if it was unclear: node, pod and reason; null otherwise. */
  readonly unclear: string | null
  /** The API server rejected the paused annotation; the record alone permits, so a stop continues without it. */
  readonly pauseRefused: boolean
  /** Last patch of the DaemonSet that the API server rejected, of which this process knows, with its words. @default none */
  readonly rejected?: { readonly why: RejectablePatch; readonly message: string } | undefined
  /** Since when (monotonic) this process has seen the same deletable pod; undefined: there is none. */
  readonly undeletedSinceMs?: number | undefined
  /** The last live list of nodes; undefined where there was none since the DaemonSet controller counts more nodes than `fleet`. */
  readonly nodeList?: LiveNodeList | undefined
  /** Since when (monotonic) this process has seen that the BatchRelease is deleted; undefined: it is not, or since now. */
  readonly deletedSinceMs?: number | undefined
  /** Updated nodes that are or were not well (`status.watchedNodes`, and what was seen since). */
  readonly watched: readonly WatchedNode[]
  /** When this process last wrote the status of this BatchRelease, on the monotonic clock; null before the first write. */
  readonly statusWrittenMs: number | null
  /**
   * Since when (monotonic) the template's ControllerRevision has been missing, or when the DaemonSet was last touched for it;
   * null or undefined: it is not missing.
   */
  readonly revisionMissingSinceMs?: number | null
  /** Status times that were stamped before the API server's clock was set; undefined: none. */
  readonly movedTimes?: MovedTimes | undefined
  /** Its group; undefined where neither the spec nor the status names one. */
  readonly group?: GroupView | undefined
  /** Epoch milliseconds. */
  readonly nowMs: number
  readonly monotonicMs: number
  /** Epoch milliseconds by a clock that is never set while the process runs; deadlines use it. Undefined: same as `nowMs`. */
  readonly steadyMs?: number | undefined
}

/** The owner reference in the annotation control-info; undefined where it is missing or not JSON. Each change of a node asks for it. */
export function controlledBy(daemonSet: DaemonSet): ControlInfo | undefined {
  const text = daemonSet.metadata.annotations?.[daemonSetAnnotations.controlInfo]
  if (text === undefined) return undefined
  const known = controlInfos.get(daemonSet)
  if (known !== undefined) return known ?? undefined
  const read = readControlInfo(text)
  controlInfos.set(daemonSet, read)
  return read ?? undefined
}

/** The BatchRelease in charge of a DaemonSet. */
export interface ControlInfo {
  readonly name: string
  readonly uid: string
  /** When the release that it published began, in RFC 3339; undefined where it does not say that. */
  readonly begunAt?: string | undefined
}

const controlInfos = new WeakMap<DaemonSet, ControlInfo | null>()

function readControlInfo(text: string): ControlInfo | null {
  try {
    const { name, uid, begunAt } = readJson(text) as { name?: unknown; uid?: unknown; begunAt?: unknown }
    if (typeof name !== 'string' || typeof uid !== 'string') return null
    return { name, uid, begunAt: typeof begunAt === 'string' ? begunAt : undefined }
  } catch {
    return null
  }
}

/** Whether the DaemonSet exists and its control-info names this BatchRelease. */
export function isInCharge({ release }: Pick<ReleaseView, 'release'>, daemonSet: DaemonSet | undefined): boolean {
  return daemonSet !== undefined && controlledBy(daemonSet)?.uid === release.metadata.uid
}
