import type { JobQueue } from '@tranche/queue'
import type { Metrics } from './metrics.ts'

/** Exports the number of keys of the job queue by state, whenever the metrics are read and the queue answers. */
export function exportJobMetrics(metrics: Metrics, queue: Pick<JobQueue, 'stats'>): void {
  metrics.gauge('tranche_queue_keys', async () => {
    const { waiting, delayed, active } = await queue.stats()
    return Object.entries({ waiting, delayed, active }).map(([state, value]) => ({ labels: { queue: 'jobs', state }, value }))
  })
}
