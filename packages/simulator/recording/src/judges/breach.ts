import type { FailedRequest, Stall } from '../world/observations.ts'

/** Guarantee that a recording can be checked against. */
export type RecordedGuarantee = (typeof recordedGuarantees)[number]

/**
 * All checkable guarantees. G7 (crash) and G8 (several processes) need no judge of their own: they are these, under crashes and with
 * several processes.
 */
export const recordedGuarantees = ['G1', 'G2', 'G3', 'G4', 'G5', 'G6', 'G7', 'G9', 'G10', 'G11', 'G12', 'G13'] as const

/** Violation of a guarantee. */
export interface Breach {
  readonly guarantee: RecordedGuarantee
  /** Epoch milliseconds when the server accepted the write, or when the recording ended. */
  readonly atMs: number
  /** Node concerned, if any. */
  readonly node?: string
  /** One sentence with the numbers. */
  readonly text: string
}

/** Change of the API server's clock. */
export interface ClockStep {
  /** Epoch milliseconds by the recording's clock, which is never set. */
  readonly atMs: number
  /** Size of the change in milliseconds, in either direction. */
  readonly ms: number
}

/** Interval in which faults could hold up an acknowledgement. Epoch milliseconds by the recording's clock. */
export interface Disturbance {
  readonly fromMs: number
  readonly toMs: number
}

/** Which actors are ours, and how the recording was made. */
export interface JudgeQuery {
  /** @returns whether this actor is one of our executors or controllers */
  readonly isOurs: (actor: string) => boolean
  /** Guarantees to judge. @default all */
  readonly guarantees?: readonly RecordedGuarantee[]
  /** The only DaemonSet to judge. @default every DaemonSet */
  readonly daemonSet?: { readonly namespace?: string; readonly name: string }
  /**
   * Delay of an actor's watches when no deliveries to it were recorded, in milliseconds. Changes of nodes or pods by other clients within
   * it do not count against the actor; with Infinity, no such change counts. @default 1000
   */
  readonly watchLagMs?: number
  /** Time that a process may take from a delivery to a response, in milliseconds, when deliveries were recorded. @default 0 */
  readonly reactionMs?: number
  /** Intervals in which actors were frozen, or delayed between decision and request. @default none */
  readonly stalls?: readonly Stall[]
  /** Failed requests, in order of time: a node that cannot be read keeps its pod. @default none */
  readonly failures?: readonly FailedRequest[]
  /** Namespaces that share their groups (G13). @default none */
  readonly sharedGroupNamespaces?: readonly string[]
  /**
   * When the API server's clock was set. A time stamped before and read after, or the reverse, is off by the size of the change. @default
   * never
   */
  readonly clockSteps?: readonly ClockStep[]
  /** When faults could hold up the acknowledgement of a stop. @default unknown, so no stop has to be acknowledged */
  readonly disturbances?: readonly Disturbance[]
  /**
   * Epoch milliseconds since when there are no faults and no actions, and every node is healthy. By the end of the recording, the release
   * must have ended or say who must act (G6, G7). @default never
   */
  readonly quiescentFromMs?: number
}
