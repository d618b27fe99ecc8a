import type { StalledReason } from '@tranche/api-schema'

/** One rule that somebody's input breaks, said so that they can mend it. */
export interface Problem {
  /** Path of the field, as the API server writes it: `spec.strategy.canary.steps[1].replicas`. */
  readonly path: string
  /** What stands there; undefined when nothing does. */
  readonly value: unknown
  /** The rule, without full stop: "a percentage is at most 100%". */
  readonly message: string
  /** What to do, as an imperative without full stop: "set it to 100% or less". */
  readonly fix: string
  /** Reason of the condition `Stalled` while the problem stands. */
  readonly reason: StalledReason
}

/** Longest value that is shown whole, in characters. */
const LONGEST_VALUE = 120

/** @returns one sentence or two: field, value, rule and fix; the same in status, at admission and in the command line */
export function problemText({ path, value, message, fix }: Problem): string {
  const what = value === undefined ? `${path} is missing` : `${path} is ${shown(value)}`
  return `${what}: ${message}; ${fix}`
}

/** @returns value, rule and fix without the field, for those who show the field beside it */
export function problemBody({ value, message, fix }: Problem): string {
  return value === undefined ? `${message}; ${fix}` : `${shown(value)}: ${message}; ${fix}`
}

/** @returns the text of the first problem, and how many more there are; empty without problems */
export function problemsText(problems: readonly Problem[]): string {
  const [first, ...others] = problems
  if (first === undefined) return ''
  return others.length === 0 ? problemText(first) : `${problemText(first)} (and ${others.length} more)`
}

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}…`
}
