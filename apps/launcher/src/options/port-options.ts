import { misplaced, parseWhole } from '@tranche/cli'

/** Listen address of health probes or metrics. */
export interface PortOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
}

const LOOPBACK = '127.0.0.1'

/**
 * Reads the address of the health probes.
 *
 * @returns null without `--health-port`
 * @throws {AppError} OPTION_INVALID
 */
export function toHealthOptions({ healthPort, healthHost }: Readonly<Record<string, unknown>>): PortOptions | null {
  return toPortOptions('health', healthPort, healthHost)
}

/**
 * Reads the address of the metrics.
 *
 * @returns null without `--metrics-port`
 * @throws {AppError} OPTION_INVALID
 */
export function toMetricsOptions({ metricsPort, metricsHost }: Readonly<Record<string, unknown>>): PortOptions | null {
  return toPortOptions('metrics', metricsPort, metricsHost)
}

function toPortOptions(name: string, port: unknown, givenHost: unknown): PortOptions | null {
  const host = typeof givenHost === 'string' ? givenHost : LOOPBACK
  if (typeof port === 'string') return { host, port: parseWhole(`--${name}-port`, port, { min: 0, max: 65_535 }) }
  if (host !== LOOPBACK) throw misplaced(`--${name}-host`, `requires --${name}-port`, `add --${name}-port, or leave it out`)
  return null
}
