import type { Metrics } from '@tranche/metrics'
import type { WorkQueue } from '@tranche/reconcile'

/** Work queues of a leader's term, by lane. */
export type TermQueues<Lane extends string> = Readonly<Record<Lane, WorkQueue>>

/** Exports the number of waiting keys as `tranche_queue_keys`; exports nothing between terms. */
export function exportQueueMetrics<Lane extends string>(
  metrics: Metrics,
  queuesNow: () => TermQueues<Lane> | null,
  nameOf: (lane: Lane) => string,
): void {
  metrics.gauge('tranche_queue_keys', () =>
    Object.entries<WorkQueue>(queuesNow() ?? {}).flatMap(([lane, { ready, delayed }]) => {
      const queue = nameOf(lane as Lane)
      return [
        { labels: { queue, state: 'waiting' }, value: ready },
        { labels: { queue, state: 'delayed' }, value: delayed },
      ]
    }),
  )
}
