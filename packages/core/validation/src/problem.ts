import type { StalledReason } from '@tranche/api-schema'
import { adviceRules } from './advice-rules.ts'
import { type AdviceRule, type ProblemRule, problemRules } from './rules.ts'

/** What is found of one field, said so that whoever wrote it can mend it. */
interface Finding {
  /** Path of the field, as the API server writes it: `spec.strategy.canary.steps[1].replicas`. */
  readonly path: string
  /** What stands there; undefined when nothing does. */
  readonly value: unknown
  /** The rule, without full stop: "a percentage is at most 100%". */
  readonly message: string
  /** What to do, as an imperative without full stop: "set it to 100% or less". */
  readonly fix: string
}

/** One rule that somebody's input breaks; no release starts while it stands. */
export interface Problem extends Finding {
  readonly rule: ProblemRule
  /** Reason of the condition `Stalled` while the problem stands. */
  readonly reason: StalledReason
}

/** Something that is allowed and may surprise. */
export interface Advice extends Finding {
  readonly rule: AdviceRule
}

/** What is particular about one case; what is left out is as the rule has it. */
type Case = Pick<Finding, 'value'> & Partial<Pick<Finding, 'path' | 'message' | 'fix'>>

/** @returns the problem of a broken rule */
export function problemOf(rule: ProblemRule, { value, ...particular }: Case): Problem {
  const { path, says, fix, reason } = problemRules[rule]
  return { rule, path, message: says, fix, ...particular, value, reason }
}

/** @returns the advice of a rule */
export function adviceOf(rule: AdviceRule, { value, ...particular }: Case): Advice {
  const { path, says, fix } = adviceRules[rule]
  return { rule, path, message: says, fix, ...particular, value }
}

/** Longest value that is shown whole, in characters. */
const LONGEST_VALUE = 120

/** @returns one sentence or two: field, value, rule and fix; the same in status, at admission and in the command line */
export function problemText({ path, value, message, fix }: Problem | Advice): string {
  const what = value === undefined ? `${path} is missing` : `${path} is ${shownValue(value)}`
  return `${what}: ${message}; ${fix}`
}

/** @returns value, rule and fix without the field, for those who show the field beside it */
export function problemBody({ value, message, fix }: Problem): string {
  return value === undefined ? `${message}; ${fix}` : `${shownValue(value)}: ${message}; ${fix}`
}

/** Longest text of several problems, in characters: it stands in conditions and events. The first is always told. */
const LONGEST_TEXT = 900

/** @returns the texts of the problems in one line, and how many more there are where it would be too long; empty without problems */
export function problemsText(problems: readonly (Problem | Advice)[]): string {
  const [first, ...others] = problems.map(problemText)
  if (first === undefined) return ''
  let reported = first
  for (const [index, text] of others.entries()) {
    if (reported.length + text.length > LONGEST_TEXT) return `${reported} (and ${others.length - index} more)`
    reported = `${reported}; and ${text}`
  }
  return reported
}

/** @returns a value as JSON, cut where it would fill the screen */
export function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length <= LONGEST_VALUE
    ? text
    : `${text
        .slice(0, LONGEST_VALUE)
        .toWellFormed()
        .replace(/\uFFFD$/, '')}…`
}
