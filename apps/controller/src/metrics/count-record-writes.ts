import type { ReleasePort } from '@tranche/controllers'
import type { Metrics } from '@tranche/metrics'

/** Counts writes of permit records as `tranche_record_writes_total`; returns the port itself without metrics. */
export function countRecordWrites(port: ReleasePort, metrics: Metrics | undefined): ReleasePort {
  if (metrics === undefined) return port
  const count = (result: string): void => metrics.count('tranche_record_writes_total', { program: 'controller', result })
  return {
    ...port,
    async writeRecord(release, record, signal, exact) {
      try {
        const written = await port.writeRecord(release, record, signal, exact)
        count(written ? 'written' : 'overtaken')
        return written
      } catch (error) {
        count('failed')
        throw error
      }
    },
  }
}
