import type { Stall } from './world/observations.ts'

/** A guarantee that a recording can be held against. */
export type RecordedGuarantee = (typeof recordedGuarantees)[number]

/** All of them. G7 (a crash) and G8 (several of us) are these, held when processes die or are many. */
export const recordedGuarantees = ['G1', 'G2', 'G3', 'G4', 'G5', 'G6', 'G7', 'G9', 'G10', 'G11', 'G12'] as const

/** Something that a guarantee forbids. */
export interface Breach {
  readonly guarantee: RecordedGuarantee
  /** When the server accepted it, or when the recording ended; epoch milliseconds. */
  readonly atMs: number
  /** Where it is about one. */
  readonly node?: string
  /** One sentence with the numbers. */
  readonly text: string
}

/** The API server's clock was set. */
export interface ClockStep {
  /** Epoch milliseconds by the recording's clock, which is not set. */
  readonly atMs: number
  /** By so much, in either direction. */
  readonly ms: number
}

/** What is ours in a recording, and what is known about how it came about. */
export interface JudgeQuery {
  /** @returns whether the writes of this actor are ours: of executors and controllers */
  readonly isOurs: (actor: string) => boolean
  /** @default all */
  readonly guarantees?: readonly RecordedGuarantee[]
  /** Only this one is judged. @default every DaemonSet */
  readonly daemonSet?: { readonly namespace?: string; readonly name: string }
  /**
   * Where no deliveries to an actor were recorded: how late its watches may be, in milliseconds. What others did to nodes or
   * pods since is not held against it. Infinity: others are not looked at. @default 1000
   */
  readonly watchLagMs?: number
  /** Where they were: how long a process may take from a delivery to an answer. @default 0 */
  readonly reactionMs?: number
  /** Times in which actors were frozen, or held up between decision and request. @default none */
  readonly stalls?: readonly Stall[]
  /**
   * When the API server's clock was set: times that were stamped before and read after, or the other way round, are off by as much.
   * @default never
   */
  readonly clockSteps?: readonly ClockStep[]
  /**
   * Time without faults and without actions, with every node well, since epoch milliseconds: by the end of the
   * recording the release must have ended, or say who must act (G6, G7). @default never
   */
  readonly quiescentFromMs?: number
}
