import type { Row } from './row.ts'

/** Options of a measurement. */
export interface BenchOptions {
  /** Number of runs of short measurements; long ones run once. */
  readonly runs: number
  /** Minutes of the measurement of the dashboard's heap. */
  readonly minutes: number
}

/** Measurements that run together: `pnpm bench NAME`. */
export interface BenchSet {
  /** What it measures and how, as sentences for the report. */
  readonly about: string
  /** Expected duration with three runs on an idle machine with two processors, in minutes. */
  readonly minutes: number
  /** Whether it runs without being named. */
  readonly isDefault: boolean
  /** Whether it belongs to the report. */
  readonly isReported: boolean
  /** Whether its values are counts or virtual time, the same on every machine. */
  readonly isExact: boolean
  measure(options: BenchOptions): Promise<readonly Row[]>
}
