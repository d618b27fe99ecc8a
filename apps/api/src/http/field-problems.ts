import type { z } from 'zod'

/** An invalid field with a suggested fix. */
export interface FieldProblem {
  readonly path: string
  readonly value?: unknown
  readonly fix: string
}

/** A schema violation, with the input at its path. */
export type SchemaIssue = z.core.$ZodIssue

/**
 * Suggests a fix for each field that violates the schema, from the code and the parameters of the issue.
 *
 * @param part of the request: `path`, `query`, `header` or `body`
 */
export function fieldProblems(part: string, issues: readonly SchemaIssue[]): readonly FieldProblem[] {
  return issues.flatMap((issue) => {
    const path = [part, ...issue.path.map(String)].join('.')
    if (issue.code !== 'unrecognized_keys') return [{ path, fix: fixOf(issue) }]
    return issue.keys.map((key) => ({ path: `${path}.${key}`, fix: 'remove it or fix its name: there is no such field' }))
  })
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
