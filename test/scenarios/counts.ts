import type { Clock } from '@tranche/clock'
import { createMetrics, type Metrics } from '@tranche/metrics'
import { silentLogger } from '@tranche/telemetry'

export type { Metrics } from '@tranche/metrics'

/** Creates metrics that programs of a world can share. */
export function createCounts(clock: Clock): Promise<Metrics> {
  return createMetrics({ clock, log: silentLogger, version: '0.1.0' })
}
