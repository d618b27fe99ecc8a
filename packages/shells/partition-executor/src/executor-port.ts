import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import type { FleetNode, FleetView } from '@tranche/fleet'
import type {
  CheckPurpose,
  LivePod,
  NodeCheck,
  PermittedPod,
  PreparationRules,
  Preparations,
  PreparedNode,
  PublishedTarget,
  TouchAnswer,
} from '@tranche/fence'
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
  /** What the policy asks to be done on nodes before their pods are deleted. @default nothing */
  readonly preparation?: PreparationRules | undefined
  /** Preparations of this release, by node. @default nothing */
  readonly prepared?: Preparations
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
   * Reads the current nodes of these names from the API server and not from a watch, by one request (F6).
   *
   * @returns those that exist
   * @throws if there is no clear response
   */
  readNodes(names: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlyMap<string, FleetNode>>
  /**
   * Checks a node of the DaemonSet, and begins on it what the policy asks for.
   *
   * @throws if there is no clear response
   */
  checkNode(daemonSet: ObjectKey, node: string, purpose: CheckPurpose, signal: AbortSignal): Promise<NodeCheck>
  /**
   * Undoes what a check did on a node for the release of the DaemonSet.
   *
   * @throws if it is not sure to be undone: it is tried again
   */
  undoPreparation(daemonSet: ObjectKey, node: PreparedNode, signal: AbortSignal): Promise<void>
  /**
   * Renews what a check did on a node for the release of the DaemonSet.
   *
   * @throws if it is not sure to be renewed: it is tried again
   */
  renewPreparation(daemonSet: ObjectKey, node: PreparedNode, signal: AbortSignal): Promise<void>
  /**
   * Undoes what was done on nodes for releases that control no DaemonSet any more.
   *
   * @throws if something is not sure to be undone: it is tried again
   */
  sweepNodes(signal: AbortSignal): Promise<void>
}
