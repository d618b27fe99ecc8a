import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import type { FleetNode, FleetView } from '@tranche/fleet'
import type { LivePod, TouchAnswer } from '@tranche/flight'
import type { ObjectKey, PodPlacement } from '@tranche/kube-types'
import type { PublishedTarget, PermittedPod } from '@tranche/planner'

/** What one pass reads about a DaemonSet, all of it from this process's own watches. */
export interface ExecutorReading {
  readonly published: PublishedTarget
  /** The BatchRelease that control-info names; the newest we have seen, in a watch or in an answer to a write. */
  readonly release: BatchRelease
  readonly fleet: FleetView
  /** By which `fleet` says that a node is desired: of the DaemonSet of `announcement`. */
  readonly placement: PodPlacement
  /** How far the pod watch has got. */
  readonly podsSeen: string
}

/** What the executor needs from the cluster, and no more. */
export interface ExecutorPort {
  /** Reads without waiting; null where the DaemonSet is not under the control of a BatchRelease that we know. */
  read(daemonSet: ObjectKey): ExecutorReading | null
  /**
   * Writes the record by compare-and-swap.
   *
   * @returns false when the record is no longer the one that was read (422): decide again
   */
  writeRecord(release: BatchRelease, record: FlightRecord, signal: AbortSignal): Promise<boolean>
  /**
   * Deletes a pod with the uid and resourceVersion of its permit as preconditions (F4).
   *
   * @returns false when the API server refused it (409 or 404): never fetch and delete (F5)
   */
  deletePod(pod: PermittedPod, signal: AbortSignal): Promise<boolean>
  /** Moves the pod's resourceVersion, guarded by its uid (F7). Never throws: what cannot be told is `unclear`. */
  touchPod(pod: PermittedPod, signal: AbortSignal): Promise<TouchAnswer>
  /**
   * Reads a pod as it is now, from the API server and not from a watch (F6).
   *
   * @returns null where no DaemonSet has a pod of this name
   * @throws where there is no clear answer
   */
  readPod(pod: ObjectKey, signal: AbortSignal): Promise<LivePod | null>
  /**
   * Reads a node as it is now, from the API server and not from a watch (F6).
   *
   * @returns null where there is no node of this name
   * @throws where there is no clear answer
   */
  readNode(name: string, signal: AbortSignal): Promise<FleetNode | null>
}
