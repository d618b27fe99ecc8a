import type { ReleasePort } from '@tranche/controllers'
import type { Metrics } from '@tranche/metrics'

/** The same port, with its writes of permit records counted; itself where nothing is counted. */
export function countRecordWrites(port: ReleasePort, metrics: Metrics | undefined): ReleasePort {
  if (metrics === undefined) return port
  const count = (result: string): void => metrics.count('tranche_record_writes_total', { program: 'controller', result })
  return {
    ...port,
    async writeRecord(release, record, signal) {
      try {
        const written = await port.writeRecord(release, record, signal)
        count(written ? 'written' : 'overtaken')
        return written
      } catch (error) {
        count('failed')
        throw error
      }
    },
  }
}
