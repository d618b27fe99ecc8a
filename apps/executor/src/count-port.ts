import type { FlightRecord } from '@tranche/api-schema'
import type { Metrics } from '@tranche/metrics'
import type { ExecutorPort } from '@tranche/partition-executor'

/** Counts record writes, permits and deletes of the port; returns the port itself without metrics. */
export function countPort(port: ExecutorPort, metrics: Metrics | undefined): ExecutorPort {
  if (metrics === undefined) return port
  return {
    ...port,
    async writeRecord(release, record, signal) {
      const written = await counted(port.writeRecord(release, record, signal), (result) =>
        metrics.count('tranche_record_writes_total', { program: 'executor', result: words[result].write }),
      )
      if (written) countPermits(release.status?.flight, record, metrics)
      return written
    },
    deletePod: (pod, signal) =>
      counted(port.deletePod(pod, signal), (result) => metrics.count('tranche_deletes_total', { result: words[result].deletion })),
  }
}

type Result = 'done' | 'overtaken' | 'failed'

const words = {
  done: { write: 'written', deletion: 'accepted' },
  overtaken: { write: 'overtaken', deletion: 'refused' },
  failed: { write: 'failed', deletion: 'failed' },
} as const satisfies Record<Result, object>

async function counted(call: Promise<boolean>, count: (result: Result) => void): Promise<boolean> {
  try {
    const isDone = await call
    count(isDone ? 'done' : 'overtaken')
    return isDone
  } catch (error) {
    count('failed')
    throw error
  }
}

function countPermits(before: FlightRecord | undefined, after: FlightRecord, metrics: Metrics): void {
  const was = new Set(before?.permits.map(({ podUid }) => podUid))
  const is = new Set(after.permits.map(({ podUid }) => podUid))
  metrics.count('tranche_permits_total', { change: 'appended' }, [...is].filter((uid) => !was.has(uid)).length)
  metrics.count('tranche_permits_total', { change: 'removed' }, [...was].filter((uid) => !is.has(uid)).length)
}
