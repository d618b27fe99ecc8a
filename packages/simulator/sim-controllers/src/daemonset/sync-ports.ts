import type { Clock } from '@tranche/clock'
import type { PodWriter } from './change-pods.ts'
import type { DaemonSetCache } from './daemon-set-cache.ts'
import type { FailedPodBackoff } from './failed-pod-backoff.ts'

/** Dependencies of one pass over a DaemonSet. */
export interface SyncPorts extends PodWriter {
  readonly clock: Clock
  readonly cache: DaemonSetCache
  readonly backoff: FailedPodBackoff
  /** Selects among equal pods. */
  readonly random: () => number
  /** Requeues the key after a delay. */
  readonly wakeAfter: (key: string, delayMs: number) => void
}
