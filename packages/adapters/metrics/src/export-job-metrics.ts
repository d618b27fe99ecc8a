import type { JobQueue } from '@tranche/queue'
import type { Metrics } from './metrics.ts'

/** Tells how many keys the job queue has in which state, whenever somebody reads the metrics and the queue answers. */
export function exportJobMetrics(metrics: Metrics, queue: Pick<JobQueue, 'stats'>): void {
  metrics.gauge('tranche_queue_keys', async () => {
    const { waiting, delayed, active } = await queue.stats()
    return Object.entries({ waiting, delayed, active }).map(([state, value]) => ({ labels: { queue: 'jobs', state }, value }))
  })
}
