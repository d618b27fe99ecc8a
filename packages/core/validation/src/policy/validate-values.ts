import { durationMs } from '@tranche/api-schema'
import { type IntOrString, scaleIntOrPercent } from '@tranche/kube-types'
import { type Problem, problemOf } from '../problem.ts'

/** The least and the most that a length of time may be, as people write them. */
export interface DurationRange {
  readonly from: string
  readonly to: string
}

/** A length of time that is none, or outside its range. */
export function durationProblems(path: string, value: string | undefined, { from, to }: DurationRange): readonly Problem[] {
  if (value === undefined) return []
  const ms = durationMs(value)
  if (Number.isNaN(ms))
    return [problemOf('PolicyDuration', { path, value, message: 'a length of time is a number with its unit: ms, s, m or h' })]
  if (ms >= durationMs(from) && ms <= durationMs(to)) return []
  return [
    problemOf('PolicyDuration', { path, value, message: `it is from ${from} to ${to}`, fix: `set it to a length from ${from} to ${to}` }),
  ]
}

/** A whole number outside its range. */
export function numberProblems(path: string, value: number | undefined, { from, to }: { from: number; to: number }): readonly Problem[] {
  if (value === undefined || (Number.isInteger(value) && value >= from && value <= to)) return []
  const range = `a whole number from ${from} to ${to}`
  return [problemOf('PolicyNumber', { path, value, message: `it is ${range}`, fix: `set it to ${range}` })]
}

/** What is neither a number of nodes from 0 nor a percentage of them. */
export function thresholdProblems(path: string, value: IntOrString | undefined): readonly Problem[] {
  return value === undefined || scaleIntOrPercent(value, 100) !== null ? [] : [problemOf('PolicyThreshold', { path, value })]
}

/** A text that is empty or too long, in characters. */
export function textProblems(path: string, value: string | undefined, longest: number): readonly Problem[] {
  if (value === undefined) return []
  if (value.trim() === '') return [problemOf('PolicyText', { path, value, message: 'it is empty' })]
  if (value.length <= longest) return []
  return [
    problemOf('PolicyText', {
      path,
      value,
      message: `it has ${value.length} characters, and ${longest} at most are read`,
      fix: 'make it shorter',
    }),
  ]
}

/** @returns the indexes of entries that an earlier one equals */
export function repeated(values: readonly unknown[]): readonly number[] {
  const seen = new Set<unknown>()
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [index]
    seen.add(value)
    return []
  })
}
