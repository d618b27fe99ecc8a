import fc from 'fast-check'
import { type Description, resolved, type Schema } from './described.ts'

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json }

/** Meaningful values by the name of the parameter or member; a schema alone never generates an existing object's name. */
export type Hints = Readonly<Record<string, fc.Arbitrary<Json>>>

/** Strings of any code units; the equivalent strings of fast-check need a large table each. */
const anyText = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((units) => String.fromCharCode(...units))

/** Strings that often cause bugs. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  anyText,
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    ...[
      '',
      ' ',
      '.',
      '..',
      '../..',
      '%2e%2e%2f',
      '__proto__',
      'constructor',
      'toString',
      'null',
      'undefined',
      'true',
      '-1',
      '61',
      '501',
      '1e309',
    ],
    ...['NaN', '9007199254740993', '\u0000', '\ud800', '\u202e', '\ufeff', 'ß'.repeat(127), 'x'.repeat(254), 'x'.repeat(5_000)],
    ...['a/b', 'a%2Fb', '*', "';--", '<script>', '{{name}}', '$(x)', '\r\nX-Injected: 1', 'node-1 fails', '1'.repeat(400)],
  ),
)

const oddNumber = fc.constantFrom(0, -0, -1, 0.5, 1e21, 2 ** 31, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), Number.MAX_VALUE, Number.MIN_VALUE)

/** Unexpected JSON; some members have special names of JavaScript. */
export const oddJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json; leaf: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { arbitrary: tie('leaf'), weight: 3 },
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom('__proto__', 'constructor', 'prototype', 'reason', 'toJSON'), oddText), tie('value'), {
      maxKeys: 4,
    }),
  ),
  leaf: fc.oneof(oddText, oddNumber, fc.boolean(), fc.constant(null), fc.constant([]), fc.constant({})),
})).value

/** @returns values that are valid by the schema, preferably meaningful ones */
export function validOf(schema: Schema, description: Description, { hints, name = '' }: { readonly hints: Hints; readonly name?: string }) {
  const known = Object.hasOwn(hints, name) ? hints[name] : undefined
  const guessed = guess(resolved(schema, description), description, hints)
  return known === undefined ? guessed : fc.oneof({ arbitrary: known, weight: 8 }, { arbitrary: guessed, weight: 1 })
}

function guess(schema: Schema, description: Description, hints: Hints): fc.Arbitrary<Json> {
  if (schema.enum !== undefined) return fc.constantFrom(...(schema.enum as readonly Json[]))
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => validOf(one, description, { hints })))
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
    case 'number':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1_000, 2 ** 31) })
    case 'string':
      if (schema.pattern !== undefined) return matching(schema.pattern)
      return fc.string({ minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 300, 300) })
    case 'array':
      return fc.array(validOf(schema.items ?? {}, description, { hints }), { maxLength: Math.min(schema.maxItems ?? 5, 5) })
    case 'object':
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([name, member]) => [name, validOf(member, description, { hints, name })]),
        ),
        { requiredKeys: [...(schema.required ?? [])] },
      ) as fc.Arbitrary<Json>
    default:
      return oddJson
  }
}

const known = new Map<string, fc.Arbitrary<string>>()

function matching(pattern: string): fc.Arbitrary<string> {
  const texts = known.get(pattern) ?? fc.stringMatching(new RegExp(pattern), { maxLength: 60 })
  known.set(pattern, texts)
  return texts
}

/** @returns values with one invalid or unusual part */
export function nearly(valid: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc
    .tuple(valid, fc.nat(), fc.constantFrom('replace', 'remove', 'add', 'wrap'), oddJson, oddText)
    .map(([value, at, edit, odd, name]) => bent(value, { at, edit, odd, name }))
}

interface Bend {
  /** Which of the members. */
  readonly at: number
  readonly edit: string
  readonly odd: Json
  readonly name: string
}

function bent(value: Json, { at, edit, odd, name }: Bend): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return edit === 'wrap' ? [value] : odd
  const entries = Object.entries(value)
  const changed = entries.length === 0 ? 0 : at % entries.length
  if (edit === 'remove') return fromEntries(entries.filter((_entry, index) => index !== changed))
  if (edit === 'add' || entries.length === 0) return fromEntries([...entries, [name, odd]])
  return fromEntries(entries.map(([key, member], index) => [key, index !== changed ? member : edit === 'wrap' ? [member] : odd]))
}

/** @returns the object with an own member `__proto__`, as JSON allows */
function fromEntries(entries: readonly (readonly [string, Json])[]): Json {
  const object = Object.create(null) as Record<string, Json>
  for (const [name, value] of entries) object[name] = value
  return object
}
