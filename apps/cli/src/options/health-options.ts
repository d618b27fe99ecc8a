import { misplaced, parseWhole } from '../option-values.ts'

/** Where a process says how it is. */
export interface HealthOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
}

const LOOPBACK = '127.0.0.1'

/**
 * @returns null without `--health-port`
 * @throws {AppError} OPTION_INVALID
 */
export function toHealthOptions({ healthPort, healthHost }: Readonly<Record<string, unknown>>): HealthOptions | null {
  const host = typeof healthHost === 'string' ? healthHost : LOOPBACK
  if (typeof healthPort === 'string') return { host, port: parseWhole('--health-port', healthPort, { min: 0, max: 65_535 }) }
  if (host !== LOOPBACK) throw misplaced('--health-host', 'stands without --health-port', 'add --health-port, or leave it out')
  return null
}
