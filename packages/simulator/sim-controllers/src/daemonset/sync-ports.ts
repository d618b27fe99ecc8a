import type { Clock } from '@tranche/clock'
import type { PodWriter } from './change-pods.ts'
import type { DaemonSetCache } from './daemon-set-cache.ts'
import type { FailedPodBackoff } from './failed-pod-backoff.ts'

/** What one pass over a DaemonSet works with. */
export interface SyncPorts extends PodWriter {
  readonly clock: Clock
  readonly cache: DaemonSetCache
  readonly backoff: FailedPodBackoff
  /** Chooses among pods that are equally fit to go. */
  readonly random: () => number
  /** Brings the key back after a while. */
  readonly wakeAfter: (key: string, delayMs: number) => void
}
