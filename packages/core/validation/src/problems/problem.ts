import type { StalledReason } from '@tranche/api-schema'
import { clipText } from '@tranche/kube-types'
import { adviceRules } from './advice-rules.ts'
import { installationRules } from './installation-rules.ts'
import { type AdviceRule, type InstallationRule, type ProblemRule, problemRules } from './rules.ts'
import { shownValue } from './shown-value.ts'

/** A finding about one field, with the fix for its author. */
interface Finding {
  /** Path of the field, as the API server writes it: `spec.strategy.canary.steps[1].replicas`. */
  readonly path: string
  /** Value of the field; undefined when it is missing. */
  readonly value: unknown
  /** The rule, without a full stop: "a percentage is at most 100%". */
  readonly message: string
  /** The fix as an imperative, without a full stop: "set it to 100% or less". */
  readonly fix: string
}

/** A broken rule; no release starts until it is fixed. */
export interface Problem extends Finding {
  readonly rule: ProblemRule
  /** Reason of the condition `Stalled` until the problem is fixed. */
  readonly reason: StalledReason
}

/** A setting that is allowed but may surprise. */
export interface Advice extends Finding {
  readonly rule: AdviceRule
}

/** Overrides for one case; absent members come from the rule. */
type Case = Pick<Finding, 'value'> & Partial<Pick<Finding, 'path' | 'message' | 'fix'>>

/** @returns the problem of a broken rule */
export function problemOf(rule: ProblemRule, { value, ...particular }: Case): Problem {
  const { path, says, fix, reason } = problemRules[rule]
  return { rule, ...ofSaneLength({ path, message: says, fix, ...particular, value }), reason }
}

/** @returns the advice of a rule */
export function adviceOf(rule: AdviceRule, { value, ...particular }: Case): Advice {
  const { path, says, fix } = adviceRules[rule]
  return { rule, ...ofSaneLength({ path, message: says, fix, ...particular, value }) }
}

/** @returns the advice of a rule about what the installation allows */
export function installationAdviceOf(rule: InstallationRule, { value, ...particular }: Case): Advice {
  const { path, says, fix } = installationRules[rule]
  return { rule, ...ofSaneLength({ path, message: says, fix, ...particular, value }) }
}

/** Maximum characters of a path, of a rule or fix, and of a value that is a text. Keys and names of users are parts of them. */
const LONGEST_PATH = 400
const LONGEST_SENTENCE = 600
const LONGEST_KEPT = 1_000

/** Cuts what a user wrote: a finding must not be larger than its readers can use. */
function ofSaneLength({ path, value, message, fix }: Finding): Finding {
  return {
    path: clipText(path, LONGEST_PATH),
    value: typeof value === 'string' ? clipText(value, LONGEST_KEPT) : value,
    message: clipText(message, LONGEST_SENTENCE),
    fix: clipText(fix, LONGEST_SENTENCE),
  }
}

/** @returns one line with field, value, rule and fix; the same text in status, at admission and in the command line */
export function problemText({ path, value, message, fix }: Problem | Advice): string {
  const what = value === undefined ? `${path} is missing` : `${path} is ${shownValue(value)}`
  return `${what}: ${message}; ${fix}`
}

/** @returns value, rule and fix without the field, for callers that show the field beside it */
export function problemBody({ value, message, fix }: Problem): string {
  return value === undefined ? `${message}; ${fix}` : `${shownValue(value)}: ${message}; ${fix}`
}

/** Maximum characters of a text of several problems, for conditions and events. The first problem is always included. */
const LONGEST_TEXT = 900

/** Maximum number of problems left out of a text whose fields it names. */
const MOST_NAMED = 5

/**
 * @param longest maximum characters, beside those of the first problem and of the count
 * @returns the texts of the problems in one line, with a count of those left out, and the fields of a few; empty without problems
 */
export function problemsText(problems: readonly (Problem | Advice)[], longest = LONGEST_TEXT): string {
  const [first, ...others] = problems.map(problemText)
  if (first === undefined) return ''
  const isOpen = problems.some(({ rule }) => rule === 'MoreProblems' || rule === 'MoreAdvice')
  let reported = first
  for (const [index, text] of others.entries()) {
    if (reported.length + text.length > longest) {
      const named = isOpen ? '' : fieldsText(problems.slice(index + 1))
      return `${reported} (and ${isOpen ? 'at least ' : ''}${others.length - index} more${named})`
    }
    reported = `${reported}; and ${text}`
  }
  return reported
}

/** Empty for more than a few. */
function fieldsText(problems: readonly (Problem | Advice)[]): string {
  return problems.length > MOST_NAMED ? '' : `: ${clipText(problems.map(({ path }) => path).join(', '), LONGEST_PATH)}`
}
