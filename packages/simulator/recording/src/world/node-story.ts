import type { RecordedNode, RecordedPod } from '../record/recorded-write.ts'
import type { Cause } from './observations.ts'

/** One pod, from its first write on. */
export interface PodStory {
  readonly uid: string
  readonly node: string
  /** As last written. */
  readonly last: RecordedPod
  /** Resource version of `last`. */
  readonly rv: number
  /** Epoch milliseconds since when it has been Ready without interruption; null while it is not. */
  readonly readySinceMs: number | null
  /** Resource version that made it Ready; null while it is not. */
  readonly readyRv: number | null
  /** Smallest minReadySeconds in force since then, in milliseconds. */
  readonly neededMs: number
  /** Write that made it terminate or removed it; null before that. */
  readonly ended: Cause | null
  readonly deletedByUs: boolean
}

/** Node on which we deleted a pod, without an available one since. */
export interface Flight {
  /** Epoch milliseconds of the first used permit; time of the deletion when that is unknown. */
  readonly sinceMs: number
  /** Pods that we deleted. */
  readonly uids: ReadonlySet<string>
}

/** One node as seen by one DaemonSet. */
export interface NodeStory {
  readonly name: string
  /** Undefined while the node does not exist. */
  readonly node: RecordedNode | undefined
  readonly wanted: boolean
  /** Write that last changed `wanted`. */
  readonly wantedBy: Cause
  readonly pods: ReadonlyMap<string, PodStory>
  /** Whether the node has an available pod. */
  readonly up: boolean
  /** Write that took the last available pod away. Without one, the write that made the node wanted. */
  readonly downBy: Cause
  readonly flight: Flight | null
}

const NEVER: Cause = { t: Number.NEGATIVE_INFINITY, rv: 0, of: 'nodes' }

/** Creates a node without any recorded state. */
export function createNodeStory(name: string): NodeStory {
  return { name, node: undefined, wanted: false, wantedBy: NEVER, pods: new Map(), up: false, downBy: NEVER, flight: null }
}

/** Whether the pod is not terminating, and has been Ready for `neededMs`. */
export function isAvailable({ ended, readySinceMs, neededMs }: PodStory, nowMs: number): boolean {
  return ended === null && readySinceMs !== null && readySinceMs + neededMs <= nowMs
}

/** Whether the pod is not terminating, and runs another revision or an unknown one. */
export function isOld({ ended, last }: PodStory, revision: string | undefined): boolean {
  return ended === null && (last.hash === undefined || last.hash !== revision)
}

/**
 * Write that took the last old pod away. Without one, the write that made the node wanted. Null while an old pod that is not terminating
 * exists.
 */
export function takenBy(
  { pods, wantedBy }: NodeStory,
  revision: string | undefined,
): { readonly cause: Cause; readonly byUs: boolean } | null {
  let last = { cause: wantedBy, byUs: false }
  for (const pod of pods.values()) {
    if (isOld(pod, revision)) return null
    if (pod.ended !== null && pod.last.hash !== revision && pod.ended.rv >= last.cause.rv)
      last = { cause: pod.ended, byUs: pod.deletedByUs }
  }
  return last
}
