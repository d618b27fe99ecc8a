import { durationMs } from '@tranche/api-schema'
import { type IntOrString, scaleIntOrPercent } from '@tranche/kube-types'
import { type Problem, problemOf } from '../problems/problem.ts'

/** Minimum and maximum of a duration, as text such as `30s`. */
export interface DurationRange {
  readonly from: string
  readonly to: string
}

/** Reports a duration that is invalid or outside its range. */
export function durationProblems(path: string, value: string | undefined, { from, to }: DurationRange): readonly Problem[] {
  if (value === undefined) return []
  const ms = durationMs(value)
  if (Number.isNaN(ms)) return [problemOf('PolicyDuration', { path, value, message: 'a duration must have a unit: ms, s, m or h' })]
  if (ms >= durationMs(from) && ms <= durationMs(to)) return []
  return [
    problemOf('PolicyDuration', {
      path,
      value,
      message: `it must be from ${from} to ${to}`,
      fix: `set it to a duration from ${from} to ${to}`,
    }),
  ]
}

/** Reports a number that is not whole or outside its range. */
export function numberProblems(path: string, value: number | undefined, { from, to }: { from: number; to: number }): readonly Problem[] {
  if (value === undefined || (Number.isInteger(value) && value >= from && value <= to)) return []
  const range = `a whole number from ${from} to ${to}`
  return [problemOf('PolicyNumber', { path, value, message: `it must be ${range}`, fix: `set it to ${range}` })]
}

/** Reports a value that is neither a number of nodes ≥ 0 nor a percentage of the nodes. */
export function thresholdProblems(path: string, value: IntOrString | undefined): readonly Problem[] {
  return value === undefined || scaleIntOrPercent(value, 100) !== null ? [] : [problemOf('PolicyThreshold', { path, value })]
}

/** Reports a text that is empty or longer than `longest` characters. */
export function textProblems(path: string, value: string | undefined, longest: number): readonly Problem[] {
  if (value === undefined) return []
  if (value.trim() === '') return [problemOf('PolicyText', { path, value, message: 'it is empty' })]
  if (value.length <= longest) return []
  return [
    problemOf('PolicyText', {
      path,
      value,
      message: `it has ${value.length} characters; the maximum is ${longest}`,
      fix: 'make it shorter',
    }),
  ]
}

/** @returns the indexes of entries that repeat an earlier one */
export function repeated(values: readonly unknown[]): readonly number[] {
  const seen = new Set<unknown>()
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [index]
    seen.add(value)
    return []
  })
}
