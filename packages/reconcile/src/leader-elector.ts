import type { Clock } from '@tranche/clock'
import type { Lease } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'

/** What leader election needs from the cluster: one Lease, whose name the port knows. */
export interface LeasePort {
  /** @returns the Lease as it stands now (never from a cache); null when there is none */
  read(signal: AbortSignal): Promise<Lease | null>
  /** Creates the Lease. @throws AppError WRITE_CONFLICT when there is one already */
  create(spec: LeaseSpec, signal: AbortSignal): Promise<Lease>
  /** Replaces the Lease, with the `resourceVersion` of `lease` as precondition. @throws AppError WRITE_CONFLICT when it has another */
  update(lease: Lease, signal: AbortSignal): Promise<Lease>
}

/** @see coordination.k8s.io/v1 LeaseSpec */
export type LeaseSpec = NonNullable<Lease['spec']>

/** Settings of {@link createLeaderElector}. */
export interface LeaderElectorOptions {
  readonly port: LeasePort
  /** Who we are: unique among all candidates that ever run, so a new one for each process. */
  readonly identity: string
  readonly clock: Clock
  readonly log: Logger
  /** Called when leadership begins. The signal aborts when it ends. */
  readonly onStarted: (signal: AbortSignal) => void
  /** Called when leadership has ended, once per `onStarted`. We stand again, or give the Lease up, only when it has resolved. */
  readonly onStopped: () => void | Promise<void>
  /** How long others wait after they last saw the Lease change, in milliseconds. @default 15_000 */
  readonly leaseDurationMs?: number
  /** How long we lead after sending a renewal that succeeded, in milliseconds; less than `leaseDurationMs`. @default 10_000 */
  readonly renewDeadlineMs?: number
  /** Time between two attempts, in milliseconds. @default 2_000 */
  readonly retryPeriodMs?: number
}

/** One candidate. */
export interface LeaderElector {
  /** Begins to stand. Called once. */
  start(): void
  /** Ends leadership, waits for `onStopped`, then gives the Lease up if it was ours, so that the next need not wait. */
  stop(): Promise<void>
  /** Whether we lead at this moment, by the monotonic clock; false from the renew deadline on even when no timer has fired yet. */
  isLeader(): boolean
}

/** @returns a candidate, not started */
export function createLeaderElector(options: LeaderElectorOptions): LeaderElector {
  throw new Error(`not ready: ${options.identity}`)
}
