import { clipText } from '@tranche/kube-types'
import type { z } from 'zod'

/** An invalid field with a suggested fix. */
export interface FieldProblem {
  readonly path: string
  readonly value?: unknown
  readonly fix: string
}

/** A schema violation, with the input at its path. */
export type SchemaIssue = z.core.$ZodIssue

/** Maximum number of problems in an answer, and of characters of a path, of which names of the client are a part. */
const MOST_PROBLEMS = 20
const LONGEST_PATH = 400

/**
 * Suggests a fix for each field that violates the schema, from the code and the parameters of the issue. Ends after twenty, and says
 * then that there are more.
 *
 * @param part of the request: `path`, `query`, `header` or `body`
 */
export function fieldProblems(part: string, issues: readonly SchemaIssue[]): readonly FieldProblem[] {
  const problems = issues.slice(0, MOST_PROBLEMS + 1).flatMap((issue) => problemsOf(part, issue))
  if (problems.length <= MOST_PROBLEMS) return problems
  const more = { path: part, fix: `fix the listed problems first: there are more than ${MOST_PROBLEMS}` }
  return [...problems.slice(0, MOST_PROBLEMS), more]
}

function problemsOf(part: string, issue: SchemaIssue): readonly FieldProblem[] {
  const path = [part, ...issue.path.map(String)].join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path: clipText(path, LONGEST_PATH), fix: fixOf(issue) }]
  const fix = 'remove it or fix its name: there is no such field'
  return issue.keys.slice(0, MOST_PROBLEMS + 1).map((key) => ({ path: clipText(`${path}.${key}`, LONGEST_PATH), fix }))
}

function fixOf(issue: SchemaIssue): string {
  switch (issue.code) {
    case 'too_small':
      return issue.origin === 'string' ? `write ${issue.minimum} or more characters` : `set it to ${issue.minimum} or more`
    case 'too_big':
      return issue.origin === 'string' ? `write at most ${issue.maximum} characters` : `set it to ${issue.maximum} or less`
    case 'invalid_value':
      return `set it to ${alternatives(issue.values.map(String))}`
    case 'invalid_type':
      return issue.input === undefined ? 'add it' : `make it a value of type ${issue.expected}`
    default:
      return issue.message
  }
}

function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
