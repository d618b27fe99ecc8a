import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import type { FleetNode, FleetView } from '@tranche/fleet'
import type { LivePod, TouchAnswer, PublishedTarget, PermittedPod } from '@tranche/fence'
import type { ObjectKey, PodPlacement } from '@tranche/kube-types'

/** Input of one pass over a DaemonSet, all from this process's watches. */
export interface ExecutorReading {
  readonly published: PublishedTarget
  /** BatchRelease that control-info names; the newest seen in a watch or in the response to a write. */
  readonly release: BatchRelease
  readonly fleet: FleetView
  /** Placement by which `fleet` decides that a node is desired: that of the DaemonSet of `published`. */
  readonly placement: PodPlacement
  /** Version that the pod watch has reached. */
  readonly podsSeen: string
}

/** Cluster access of the executor. */
export interface ExecutorPort {
  /** Reads without waiting; null if no known BatchRelease controls the DaemonSet. */
  read(daemonSet: ObjectKey): ExecutorReading | null
  /**
   * Writes the record by compare-and-swap.
   *
   * @returns false if the record has changed since it was read (422): decide again
   */
  writeRecord(release: BatchRelease, record: FlightRecord, signal: AbortSignal): Promise<boolean>
  /**
   * Deletes a pod with the uid and resourceVersion of its permit as preconditions (F4).
   *
   * @returns false if the API server refused it (409 or 404): never fetch and delete (F5)
   */
  deletePod(pod: PermittedPod, signal: AbortSignal): Promise<boolean>
  /** Changes the pod's resourceVersion, guarded by its uid (F7). Never throws: an unknown result is `unclear`. */
  touchPod(pod: PermittedPod, signal: AbortSignal): Promise<TouchAnswer>
  /**
   * Reads the current pod from the API server and not from a watch (F6).
   *
   * @returns null if no DaemonSet has a pod of this name
   * @throws if there is no clear response
   */
  readPod(pod: ObjectKey, signal: AbortSignal): Promise<LivePod | null>
  /**
   * Reads the current node from the API server and not from a watch (F6).
   *
   * @returns null if there is no node of this name
   * @throws if there is no clear response
   */
  readNode(name: string, signal: AbortSignal): Promise<FleetNode | null>
  /**
   * Reads whether a node has room for a pod of the DaemonSet's present template once its old pod is gone.
   *
   * @returns null if it has; otherwise what the pod would lack, in words
   * @throws if there is no clear response
   */
  readRoom(daemonSet: ObjectKey, node: string, signal: AbortSignal): Promise<string | null>
}
