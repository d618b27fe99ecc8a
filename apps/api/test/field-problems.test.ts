import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compileValidator, SchemaViolation } from '../src/http/compile-validator.ts'
import { fieldProblems, type SchemaIssue } from '../src/http/field-problems.ts'
import { FieldsInvalid, toProblem } from '../src/http/problems.ts'

const schema = z.strictObject({
  name: z.string().min(2).max(4).optional(),
  step: z.number().min(1).max(9).optional(),
  state: z.enum(['open', 'held', 'done']).optional(),
  list: z.array(z.strictObject({ full: z.boolean() })).optional(),
})

function issuesOf(value: unknown): readonly SchemaIssue[] {
  const checked = compileValidator({ schema })(value)
  if (!('error' in checked)) throw new Error('the value fits the schema')
  return checked.error.issues
}

describe('the fix of a field', () => {
  const cases: readonly (readonly [title: string, value: unknown, path: string, fix: string])[] = [
    ['that is missing', { list: [{}] }, 'body.list.0.full', 'add it'],
    ['of a wrong type', { list: [{ full: 'yes' }] }, 'body.list.0.full', 'make it a value of type boolean'],
    ['that is null', { list: [{ full: null }] }, 'body.list.0.full', 'make it a value of type boolean'],
    ['that is too short', { name: 'a' }, 'body.name', 'write 2 or more characters'],
    ['that is too long', { name: 'abcde' }, 'body.name', 'write at most 4 characters'],
    ['that is too small', { step: 0 }, 'body.step', 'set it to 1 or more'],
    ['that is too big', { step: 10 }, 'body.step', 'set it to 9 or less'],
    ['with another value', { state: 'gone' }, 'body.state', 'set it to open, held or done'],
    ['that does not exist', { list: [{ full: true, 'a/b': 1 }] }, 'body.list.0.a/b', 'remove it or fix its name: there is no such field'],
  ]

  it.each(cases)('%s', (_title, value, path, fix) => {
    expect(fieldProblems('body', issuesOf(value))).toEqual([{ path, fix }])
  })

  it.each(cases)('%s does not depend on the message', (_title, value, path, fix) => {
    const issues = issuesOf(value).map((issue) => ({ ...issue, message: 'x' }))
    expect(fieldProblems('body', issues)).toEqual([{ path, fix }])
  })
})

describe('the fixes of a body with ten thousand problems', () => {
  const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`${'x'.repeat(1_000)}${n}`, 1]))
  const more = { path: 'body', fix: 'fix the listed problems first: there are more than 20' }
  it.each<[of: string, value: unknown]>([
    ['unknown fields', unknown],
    ['fields of a wrong type', { list: Array.from({ length: 10_000 }, () => ({ full: 1 })) }],
  ])('are twenty, and one that says that there are more: %s', (_of, value) => {
    const problems = fieldProblems('body', issuesOf(value))
    expect(problems).toHaveLength(21)
    expect(problems.at(-1)).toEqual(more)
    expect(JSON.stringify(problems).length).toBeLessThan(16_384)
  })
})

it('names the part of the request as its documentation does', () => {
  const violation = new SchemaViolation(issuesOf({ step: 0 }))
  violation.validationContext = 'querystring'
  const problem = toProblem(violation, 'r-1')
  expect(problem).toMatchObject({ code: 'REQUEST_INVALID', status: 400, problems: [{ path: 'query.step', fix: 'set it to 1 or more' }] })
  expect(problem.detail).toBe(new FieldsInvalid(problem.problems ?? []).message)
})
