import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isKept, medianOf, type Row } from '../row.ts'
import type { Machine } from './machine.ts'

/** Folder of the raw data of the report, one file per set. */
export const dataFolder = 'docs/benchmarks/data'

/** Prefix of the data of recordings of real clusters. */
export const RECORDED = 'recorded-'

/** Raw data of one set. */
export interface SetData {
  readonly set: string
  /** Command that measures it again. */
  readonly command: string
  /** Day of the measurement, as `2026-01-31`. */
  readonly day: string
  readonly seconds: number
  readonly machine: Machine
  readonly rows: readonly Row[]
}

/** @returns data of a set; null if it was never measured */
export function readData(set: string): SetData | null {
  const path = `${dataFolder}/${set}.json`
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as SetData) : null
}

/** @returns names of all sets with data */
export function measuredSets(): readonly string[] {
  if (!existsSync(dataFolder)) return []
  return readdirSync(dataFolder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .toSorted()
}

/** Writes the values of all runs, rounded to six digits, with their median. */
export function writeData(data: SetData): void {
  mkdirSync(dataFolder, { recursive: true })
  const rows = data.rows.map((row) => ({
    ...row,
    values: row.values.map(rounded),
    median: rounded(medianOf(row.values)),
    isKept: isKept(row),
  }))
  writeFileSync(`${dataFolder}/${data.set}.json`, `${JSON.stringify({ ...data, rows }, null, 2)}\n`)
}

function rounded(value: number): number {
  return Number(value.toPrecision(6))
}
