import type { RecordedNode, RecordedPod } from '../recorded-write.ts'
import type { Cause } from './observations.ts'

/** One pod, from its first write on. */
export interface PodStory {
  readonly uid: string
  readonly node: string
  /** As last written. */
  readonly last: RecordedPod
  /** Version of that. */
  readonly rv: number
  /** Since when it has been Ready without a break; null while it is not. */
  readonly readySinceMs: number | null
  /** Version that made it Ready; null while it is not. */
  readonly readyRv: number | null
  /** The least minReadySeconds that was in force since then, in milliseconds. */
  readonly neededMs: number
  /** What made it terminate, or go; null while it stands. */
  readonly ended: Cause | null
  readonly deletedByUs: boolean
}

/** A node on which we deleted a pod, without an available one since. */
export interface Flight {
  /** When the permit was given that was used first; when the pod was deleted where nobody knows. */
  readonly sinceMs: number
  /** Pods that we deleted. */
  readonly uids: ReadonlySet<string>
}

/** One node as one DaemonSet has it. */
export interface NodeStory {
  readonly name: string
  /** Undefined while there is no such node. */
  readonly node: RecordedNode | undefined
  readonly wanted: boolean
  /** What last changed `wanted`. */
  readonly wantedBy: Cause
  readonly pods: ReadonlyMap<string, PodStory>
  /** Has an available pod. */
  readonly up: boolean
  /** What took the last available pod away; what made the node wanted where there was none. */
  readonly downBy: Cause
  readonly flight: Flight | null
}

const NEVER: Cause = { t: Number.NEGATIVE_INFINITY, rv: 0, of: 'nodes' }

/** A node nobody has said anything of. */
export function createNodeStory(name: string): NodeStory {
  return { name, node: undefined, wanted: false, wantedBy: NEVER, pods: new Map(), up: false, downBy: NEVER, flight: null }
}

/** A pod that stands, is Ready, and has been so for long enough. */
export function isAvailable({ ended, readySinceMs, neededMs }: PodStory, nowMs: number): boolean {
  return ended === null && readySinceMs !== null && readySinceMs + neededMs <= nowMs
}

/** A standing pod that does not run the revision, or of which nobody knows what it runs. */
export function isOld({ ended, last }: PodStory, revision: string | undefined): boolean {
  return ended === null && (last.hash === undefined || last.hash !== revision)
}

/**
 * What took the last standing pod of another revision away; what made the node wanted where there never was one; null while
 * one stands.
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
