import type { Clock } from '@tranche/clock'
import type { Exchange } from '@tranche/wire'

/** A cluster under test, as its administrator reaches it. It may hold anything else; the suite leaves that alone. */
export interface ClusterHarness {
  /** Requests of a member of `system:masters`, who may impersonate. */
  readonly exchange: Exchange
  /** The same for watches, which last. */
  readonly watchExchange: Exchange
  /** In which the deadlines of the suite run. */
  readonly clock: Clock
  /** Begins the names of everything the suite creates outside its own namespaces: a DNS label of at most 20 characters, new for each run. */
  readonly run: string
  /** Lets time pass in the cluster until `promise` settles. Nothing but a call of this need move a virtual clock. */
  wait<T>(promise: Promise<T>): Promise<T>
  /** Frees what the harness holds. */
  dispose(): Promise<void>
}
