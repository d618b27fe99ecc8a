import type { FlightRecord } from '@tranche/api-schema'
import { type CrashPoints, noCrashPoints } from '@tranche/crash-points'
import type { ExecutorPort, ExecutorReading } from '@tranche/partition-executor'
import type { Exchange } from '@tranche/wire'

/** A way to break our programs on purpose, where they meet the cluster. */
export interface Sabotage {
  /** What goes wrong, in present tense. */
  readonly fault: string
  /** Guarantees of which at least one must be found broken. */
  readonly breaks: readonly string[]
  /** Goes around the ports of every program. */
  readonly ports: CrashPoints
  /** Goes around the requests of every program. */
  readonly exchange: (exchange: Exchange) => Exchange
}

/** Faults that the bench must find. */
export const sabotages: readonly Sabotage[] = [
  inReading('executors take the limit for one more than it is', ['G1', 'G2'], (reading) =>
    withFlight(reading, ({ limit }) => ({ limit: limit + 1 })),
  ),
  inReading('executors take every batch for the last', ['G3'], ({ announcement, ...reading }) =>
    withFlight({ ...reading, announcement: { ...announcement, partition: 0 } }, () => ({ partition: 0 })),
  ),
  inReading('executors heed no stop', ['G9'], ({ announcement, ...reading }) =>
    withFlight({ ...reading, announcement: { ...announcement, paused: false } }, () => ({ state: 'open', holds: [] })),
  ),
  inRequests('pods are deleted without preconditions', ['G4'], (exchange) => (request, signal) => {
    const { body, ...rest } = request
    return exchange(request.method === 'DELETE' && request.path.includes('/pods/') ? rest : request, signal)
  }),
]

/** @param change what executors read; what they write into the record beside permits is as it was */
function inReading(fault: string, breaks: readonly string[], change: (reading: ExecutorReading) => ExecutorReading): Sabotage {
  const ports: CrashPoints = {
    wrap(name, port) {
      if (name !== 'executor') return port
      const { read, writeRecord } = port as unknown as ExecutorPort
      let stored: Partial<FlightRecord> = {}
      const executor: Pick<ExecutorPort, 'read' | 'writeRecord'> = {
        read(key) {
          const reading = read(key)
          if (reading === null) return null
          const { limit, partition, state, holds } = reading.release.status?.flight ?? {}
          stored = { limit, partition, state, holds } as Partial<FlightRecord>
          return change(reading)
        },
        writeRecord: (release, record, signal) => writeRecord(release, { ...record, ...stored }, signal),
      }
      return { ...port, ...executor }
    },
  }
  return { fault, breaks, ports, exchange: (exchange) => exchange }
}

function inRequests(fault: string, breaks: readonly string[], exchange: Sabotage['exchange']): Sabotage {
  return { fault, breaks, ports: noCrashPoints, exchange }
}

function withFlight(reading: ExecutorReading, change: (flight: FlightRecord) => Partial<FlightRecord>): ExecutorReading {
  const { release } = reading
  const { flight } = release.status ?? {}
  if (flight === undefined) return reading
  return { ...reading, release: { ...release, status: { ...release.status, flight: { ...flight, ...change(flight) } } } } as ExecutorReading
}
