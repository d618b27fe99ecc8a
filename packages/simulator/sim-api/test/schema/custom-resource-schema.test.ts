import { createCustomResourceSchema } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'

const step = {
  type: 'object',
  properties: { replicas: { 'x-kubernetes-int-or-string': true }, pause: { type: 'object', properties: { seconds: { type: 'integer' } } } },
}
const schema = createCustomResourceSchema({
  type: 'object',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 10 },
        name: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]+$' },
        mode: { type: 'string', enum: ['Fast', 'Slow'], default: 'Slow' },
        note: { type: 'string', nullable: true, default: 'none' },
        at: { type: 'string', format: 'date-time' },
        steps: { type: 'array', minItems: 1, maxItems: 2, items: step },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        limits: { type: 'object', default: {}, properties: { cpu: { type: 'integer', default: 1 } } },
      },
    },
  },
})

describe('numbers of Go', () => {
  const numbers = createCustomResourceSchema({
    type: 'object',
    properties: {
      small: { type: 'integer', format: 'int32' },
      large: { type: 'integer', format: 'int64' },
      whole: { type: 'integer' },
      real: { type: 'number' },
      percent: { 'x-kubernetes-int-or-string': true },
    },
  })
  const range = (field: string, type: string): string => `<nil>: Invalid value: "": Checked value must be of type ${type} in ${field}`
  const type = (field: string, wanted: string, found: string): string =>
    `${field}: Invalid value: "${found}": ${field} in body must be of type ${wanted}: "${found}"`
  const int32 = 'integer with format int32'
  const int64 = 'integer with format int64'

  it.each<[object: Record<string, unknown>, causes: readonly string[]]>([
    [{ small: 2 ** 31 - 1, large: 2 ** 63 - 1024, whole: -(2 ** 63), real: 1e300, percent: 2 ** 53 }, []],
    [{ small: 2 ** 31 }, [range('small', int32)]],
    [{ small: -(2 ** 31) - 1 }, [range('small', int32)]],
    [{ small: 2 ** 63 }, [type('small', 'int32', 'float64'), range('small', int32)]],
    [{ large: 2 ** 63 }, [type('large', 'int64', 'float64'), range('large', int64)]],
    [{ large: -(2 ** 64) }, [type('large', 'int64', 'float64'), range('large', int64)]],
    [{ large: 1.5 }, [type('large', 'int64', 'float64'), range('large', int64)]],
    [{ large: true }, [type('large', 'int64', '')]],
    [{ large: 'much' }, [type('large', 'integer', 'string')]],
    [{ whole: 1e300 }, [type('whole', 'integer', 'number'), range('whole', 'integer (default format)')]],
    [{ percent: 1e300 }, [type('percent', 'integer,string', 'number')]],
  ])('%j is refused for %j', (object, causes) => {
    expect(numbers.validate(object).map(({ field, message }) => `${field}: ${message}`)).toEqual(causes)
  })
})

describe('validate finds', () => {
  const cases: Record<string, { spec: Record<string, unknown>; field: string; reason: string; message: string }> = {
    'a missing field': { spec: { size: undefined }, field: 'spec.size', reason: 'FieldValueRequired', message: 'Required value' },
    'a value of a wrong type': {
      spec: { size: 'big' },
      field: 'spec.size',
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "string": spec.size in body must be of type integer: "string"',
    },
    'a null that is not allowed': {
      spec: { name: null },
      field: 'spec.name',
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "null": spec.name in body must be of type string: "null"',
    },
    'a number that is too small': {
      spec: { size: 0 },
      field: 'spec.size',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 0: spec.size in body should be greater than or equal to 1',
    },
    'a number that is too large': {
      spec: { size: 11 },
      field: 'spec.size',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 11: spec.size in body should be less than or equal to 10',
    },
    'a word outside the enum': {
      spec: { mode: 'Odd' },
      field: 'spec.mode',
      reason: 'FieldValueNotSupported',
      message: 'Unsupported value: "Odd": supported values: "Fast", "Slow"',
    },
    'text that is too short': {
      spec: { name: 'a' },
      field: 'spec.name',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: "a": spec.name in body should be at least 2 chars long',
    },
    'text that is too long': {
      spec: { name: 'abcde' },
      field: 'spec.name',
      reason: 'FieldValueTooLong',
      message: 'Too long: may not be more than 4 bytes',
    },
    'text that does not match the pattern': {
      spec: { name: 'AB' },
      field: 'spec.name',
      reason: 'FieldValueInvalid',
      message: `Invalid value: "AB": spec.name in body should match '^[a-z]+$'`,
    },
    'text that is not a date': {
      spec: { at: 'noon' },
      field: 'spec.at',
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "noon": spec.at in body must be of type date-time: "noon"',
    },
    'too few items': {
      spec: { steps: [] },
      field: 'spec.steps',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 0: spec.steps in body should have at least 1 items',
    },
    'too many items': {
      spec: { steps: [{}, {}, {}] },
      field: 'spec.steps',
      reason: 'FieldValueTooMany',
      message: 'Too many: 3: must have at most 2 items',
    },
    'a fault inside a list': {
      spec: { steps: [{ replicas: '10%' }, { replicas: true }] },
      field: 'spec.steps[1].replicas',
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "boolean": spec.steps[1].replicas in body must be of type integer,string: "boolean"',
    },
    'a fault inside a map': {
      spec: { labels: { a: 1 } },
      field: 'spec.labels.a',
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { spec, ...cause }) => {
    expect(schema.validate({ spec: { size: 1, ...spec } })).toEqual([cause])
  })

  it('nothing in a valid object', () => {
    expect(schema.validate({ spec: { size: 1, note: null, name: 'abc', steps: [{ replicas: 1 }] } })).toEqual([])
  })
})

describe('prune', () => {
  it('drops and names unknown fields, and keeps metadata', () => {
    const metadata = { name: 'x', labels: { a: 'b' } }
    const object = {
      apiVersion: 'g/v1',
      kind: 'K',
      metadata,
      spec: { size: 1, foo: 1, steps: [{ bar: 1 }], free: { any: 1 }, labels: { a: 'b' } },
    }
    expect(schema.prune(object)).toEqual({
      object: { apiVersion: 'g/v1', kind: 'K', metadata, spec: { size: 1, steps: [{}], free: { any: 1 }, labels: { a: 'b' } } },
      unknownFields: ['spec.foo', 'spec.steps[0].bar'],
    })
  })

  it('keeps members of any name where a map has any key', () => {
    const labels = JSON.parse('{"__proto__":"a","constructor":"b"}') as object
    expect(JSON.stringify(schema.prune({ spec: { size: 1, labels } }).object)).toBe(JSON.stringify({ spec: { size: 1, labels } }))
  })

  it('keeps everything without a schema', () => {
    expect(createCustomResourceSchema(undefined).prune({ spec: { a: { b: 1 } } }).unknownFields).toEqual([])
  })
})

describe('applyDefaults', () => {
  it('fills in missing values, also within defaults', () => {
    expect(schema.applyDefaults({ spec: { size: 1 } })).toEqual({
      spec: { size: 1, mode: 'Slow', note: 'none', limits: { cpu: 1 } },
    })
  })

  it('treats a null as missing if null is not allowed', () => {
    const given = { note: null, limits: { cpu: 2 } }
    expect(schema.applyDefaults({ spec: { mode: null, ...given } })).toEqual({ spec: { mode: 'Slow', ...given } })
  })

  it('returns the same object if nothing is missing', () => {
    const object = { spec: { mode: 'Fast', note: 'n', limits: { cpu: 2 }, steps: [{}] } }
    expect(schema.applyDefaults(object)).toBe(object)
  })
})

describe('an update', () => {
  const stored = { spec: { size: 11, name: 'TOO-LONG', steps: [{ replicas: true }] } }
  const fieldsOf = (spec: Record<string, unknown>): unknown[] => schema.validate({ spec }, stored).map(({ field }) => field)

  it('may keep values that are invalid, at any depth', () => {
    expect(fieldsOf({ ...stored.spec, note: 'new' })).toEqual([])
  })

  it('may not change one to another invalid value, or remove what is required', () => {
    expect(fieldsOf({ ...stored.spec, size: 12 })).toEqual(['spec.size'])
    expect(fieldsOf({ name: 'TOO-LONG' })).toEqual(['spec.size'])
  })

  it('may keep an invalid entry only in a list that stays the same', () => {
    expect(fieldsOf({ ...stored.spec, steps: [{ replicas: true }, { replicas: 1 }] })).toEqual(['spec.steps[0].replicas'])
  })
})

it.each<[at: string, isValid: boolean]>([
  ['2026-01-01T00:00:00Z', true],
  ['2026-01-01t00:00:00.123z', true],
  ['2026-01-01T23:59:59+02:00', true],
  ['2026-01-01T00:00:00x0Z', true],
  [`2026-01-01T00:00:00ZT${'x'.repeat(1_000)}`, true],
  ['2026-01-01T24:00:00Z', false],
  ['2026-01-01T00:00:60Z', false],
  ['2026-01-01T00:00:00+0200', false],
  ['2026-02-30T00:00:00Z', false],
  ['2026-01-01T00:00:00', false],
  ['2026-01-01', false],
])('the date-time %j is accepted as API servers accept it, which is more than RFC 3339 has: %j', (at, isValid) => {
  expect(schema.validate({ apiVersion: 'a/v1', kind: 'A', metadata: {}, spec: { size: 1, at } } as never, undefined).length).toBe(
    isValid ? 0 : 1,
  )
})
