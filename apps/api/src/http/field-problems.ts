/** An invalid field with a suggested fix. */
export interface FieldProblem {
  readonly path: string
  readonly value?: unknown
  readonly fix: string
}

/** A schema violation, as Fastify reports it. */
export interface SchemaIssue {
  /** Zod issue code: `too_small`, `invalid_value` … */
  readonly keyword?: string | undefined
  /** JSON pointer to the value; `/` is the root. */
  readonly instancePath: string
  readonly message?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Suggests a fix for each field that violates the schema.
 *
 * @param part of the request: `path`, `query`, `header` or `body`
 */
export function fieldProblems(part: string, issues: readonly SchemaIssue[]): readonly FieldProblem[] {
  return issues.flatMap((issue) => {
    const path = [part, ...issue.instancePath.split('/').filter((name) => name !== '')].join('.')
    if (issue.keyword !== 'unrecognized_keys') return [{ path, fix: fixOf(issue) }]
    return listOf(issue.params?.['keys']).map((key) => ({
      path: `${path}.${key}`,
      fix: 'remove it or fix its name: there is no such field',
    }))
  })
}

function fixOf({ keyword = '', message = 'is not allowed', params = {} }: SchemaIssue): string {
  const { minimum, maximum, origin, expected, values } = params
  switch (keyword) {
    case 'too_small':
      return origin === 'string' ? `write ${String(minimum)} or more characters` : `set it to ${String(minimum)} or more`
    case 'too_big':
      return origin === 'string' ? `write at most ${String(maximum)} characters` : `set it to ${String(maximum)} or less`
    case 'invalid_value':
      return `set it to ${alternatives(listOf(values))}`
    case 'invalid_type':
      return message.endsWith('received undefined') ? 'add it' : `make it a value of type ${String(expected)}`
    default:
      return message
  }
}

function listOf(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.map(String) : []
}

function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
