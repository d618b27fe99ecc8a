import { durationMs, pathOfField, policyDurations, policyNumbers } from '@tranche/api-schema'
import { type IntOrString, scaleIntOrPercent, valueIn } from '@tranche/kube-types'
import { type Problem, problemOf } from '../problems/problem.ts'

/** Reports a duration of a policy that is invalid or outside the range of its field. */
export function durationProblems(path: string, value: string | undefined): readonly Problem[] {
  if (value === undefined) return []
  const { from, to } = rangeAt(policyDurations, path)
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

/** Reports a number of a policy that is not whole or outside the range of its field. */
export function numberProblems(path: string, value: number | undefined): readonly Problem[] {
  if (value === undefined) return []
  const { from, to } = rangeAt(policyNumbers, path)
  if (Number.isInteger(value) && value >= from && value <= to) return []
  const range = `a whole number from ${from} to ${to}`
  return [problemOf('PolicyNumber', { path, value, message: `it must be ${range}`, fix: `set it to ${range}` })]
}

/** @throws Error for a field whose range the CustomResourceDefinition would not have either */
function rangeAt<Range>(ranges: Readonly<Record<string, Range>>, path: string): Range {
  const range = valueIn(ranges, pathOfField(path))
  if (range === undefined) throw new Error(`there is no range for ${path}`)
  return range
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
