import { z } from 'zod'
import type { SchemaIssue } from './field-problems.ts'

/** A part of a request violates its schema. */
export class SchemaViolation extends Error {
  override readonly name = 'SchemaViolation'
  readonly issues: readonly SchemaIssue[]
  /** Part of the request as Fastify names it, which sets it: `params`, `querystring`, `headers` or `body`. */
  validationContext?: string

  constructor(issues: readonly SchemaIssue[]) {
    super('the request violates its schema')
    this.issues = issues
  }
}

/** @returns a check of one part of a request for Fastify. Its issues carry the invalid input; that of a missing field is undefined. */
export function compileValidator({ schema }: { readonly schema: z.ZodType }) {
  return (data: unknown): { readonly value: unknown } | { readonly error: SchemaViolation } => {
    const { success, data: value, error } = z.safeDecode(schema, data as never, { reportInput: true })
    return success ? { value } : { error: new SchemaViolation(error.issues) }
  }
}
