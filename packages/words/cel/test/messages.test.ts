import { type CelType, createCelEnvironment } from '@tranche/cel'
import { describe, expect, it } from 'vitest'

const dyn: CelType = { kind: 'dyn' }
const messages = { JSONPatch: ['op', 'path', 'value'] }
const environment = createCelEnvironment({ object: dyn, op: dyn }, messages)

function evaluate(expression: string, object: unknown): unknown {
  const compiled = environment.compile(expression)
  if (!compiled.ok) throw new Error(compiled.error)
  const result = compiled.program.evaluate({ object, op: 'of the request' })
  if (!result.ok) throw new Error(result.error)
  return result.value
}

describe('a message', () => {
  it.each<[string, string, unknown]>([
    [
      'is a map of its fields',
      `[JSONPatch{op: 'add', path: '/a' + object.x, value: object}]`,
      [{ op: 'add', path: '/ab', value: new Map([['x', 'b']]) }],
    ],
    ['may have a field with the name of a variable', `JSONPatch{op: op}`, { op: 'of the request' }],
    ['may be nested, and contain maps', `JSONPatch{value: JSONPatch{value: {'op': object.x}}}`, { value: { value: { op: 'b' } } }],
    ['is not recognized in a string', `'JSONPatch{op: 1}' + "JSONPatch{"`, 'JSONPatch{op: 1}JSONPatch{'],
    ['may be in the branch that a condition does not choose', `object.x == 'b' ? [JSONPatch{op: 'add'}] : []`, [{ op: 'add' }]],
    ['keeps conditions in its fields', `JSONPatch{op: object.x == 'c' ? op : 'add', path: '/' + 'a'}`, { op: 'add', path: '/a' }],
  ])('%s', (_, expression, value) => {
    expect(evaluate(expression, { x: 'b' })).toEqual(value)
  })

  it.each([
    ['a field that it does not have', `JSONPatch{opp: 'add'}`, /undefined field 'opp'/],
    ['an unknown name', `Other{op: 'add'}`, /compilation failed/],
  ])('is rejected for %s', (_, expression, error) => {
    expect(environment.compile(expression)).toEqual({ ok: false, error: expect.stringMatching(error) })
  })
})

it.each([
  [`object.?x == optional.of('b')`, true],
  [`object.?y == optional.none()`, true],
  [`object.?x == object.?y`, false],
  [`object.?x != object.?y`, true],
  [`object.?m == optional.of({'a': [1]})`, true],
])('optional values are equal where their values are, or both have none: %s', (expression, is) => {
  expect(evaluate(expression, { x: 'b', m: { a: [1] } })).toBe(is)
})

it('a name that every object of JavaScript has is no message', () => {
  expect(environment.compile(`constructor{op: 'add'}`).ok).toBe(false)
})
