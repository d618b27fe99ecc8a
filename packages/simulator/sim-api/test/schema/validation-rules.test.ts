import { type ApiObject, type ApiStatusError, resources } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'
import { aServer, aWidgetDefinition, refusal } from '../testing.ts'

type Rule = Readonly<Record<string, unknown>>

const tester = { name: 'tester' }
const widgets = { group: 'example.com', resource: 'widgets' }
const atSpec = 'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]'

/** A definition of widgets whose spec has these rules. */
function definition(rules: readonly Rule[], properties: object = {}): object {
  const crd = aWidgetDefinition()
  const fields = {
    a: { type: 'integer' },
    b: { type: 'string', maxLength: 20 },
    c: { type: 'integer' },
    names: { type: 'array', items: { type: 'string' } },
    few: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 10 } },
    ports: {
      type: 'array',
      maxItems: 5,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 9 }, n: { type: 'integer' } } },
    },
    ...properties,
  }
  const spec = { type: 'object', properties: fields, 'x-kubernetes-validations': rules }
  const openAPIV3Schema = { type: 'object', properties: { spec } }
  return { ...crd, spec: { ...crd.spec, versions: [{ ...crd.spec.versions[0], schema: { openAPIV3Schema } }] } }
}

function widget(spec: object, resourceVersion?: string): ApiObject {
  const metadata = { name: 'w', namespace: 'default', ...(resourceVersion && { resourceVersion }) }
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata, spec } as unknown as ApiObject
}

async function served(rules: readonly Rule[], properties: object = {}) {
  const client = aServer().server.clientFor(tester)
  await client.create(resources.customResourceDefinitions, definition(rules, properties))
  return client
}

function says(error: ApiStatusError): readonly (readonly unknown[])[] {
  return (error.status.details?.causes ?? []).map(({ field, reason, message }) => [field, reason, message])
}

describe('an object is refused by a rule', () => {
  const cases: Record<string, { rule: Rule; spec: object; want: readonly unknown[] }> = {
    'with the text of the rule': {
      rule: { rule: 'self.a > 2' },
      spec: { a: 1 },
      want: ['spec', 'FieldValueInvalid', 'Invalid value: failed rule: self.a > 2'],
    },
    'with its message, at another field, for another reason': {
      rule: { rule: 'self.a > 1', message: 'a must be above 1', fieldPath: '.a', reason: 'FieldValueForbidden' },
      spec: { a: 1 },
      want: ['spec.a', 'FieldValueForbidden', 'Forbidden: a must be above 1'],
    },
    'with a computed message': {
      rule: { rule: 'self.a > 3', messageExpression: "'a is %d'.format([self.a])" },
      spec: { a: 1 },
      want: ['spec', 'FieldValueInvalid', 'Invalid value: a is 1'],
    },
    'that cannot be evaluated': {
      rule: { rule: 'self.c > 1' },
      spec: { a: 1 },
      want: ['spec', 'FieldValueInvalid', 'Invalid value: "object": no such key: c evaluating rule: self.c > 1'],
    },
  }
  it.each(Object.entries(cases))('%s', async (_name, { rule, spec, want }) => {
    const client = await served([rule])
    expect(says(await refusal(client.create(widgets, widget(spec))))).toEqual([want])
  })

  it('of a field, of each item, and of a map, in this order', async () => {
    const rule = (text: string, message?: string): object => ({ 'x-kubernetes-validations': [{ rule: text, ...(message && { message }) }] })
    const client = await served([], {
      a: { type: 'integer', ...rule('self < 100', 'too big') },
      few: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 10, ...rule("self.startsWith('a')") } },
      m: { type: 'object', maxProperties: 5, additionalProperties: { type: 'integer' }, ...rule('self.all(k, self[k] > 0)', 'positive') },
    })
    const error = await refusal(client.create(widgets, widget({ a: 200, few: ['ab', 'b'], m: { k: 0 } })))
    expect(says(error)).toEqual([
      ['spec.a', 'FieldValueInvalid', 'Invalid value: 200: too big'],
      ['spec.few[1]', 'FieldValueInvalid', 'Invalid value: "b": failed rule: self.startsWith(\'a\')'],
      ['spec.m', 'FieldValueInvalid', 'Invalid value: positive'],
    ])
  })

  it('only if it matches the schema', async () => {
    const client = await served([{ rule: 'self.a > 2' }])
    const error = await refusal(client.create(widgets, widget({ a: 'x' })))
    expect(error.message).toContain('some validation rules were not checked because the object was invalid')
    expect(error.message).not.toContain('failed rule')
  })
})

describe('a transition rule', () => {
  const growing = { rule: 'self.a >= oldSelf.a', message: 'a may not shrink' }

  it('is not applied to a new object', async () => {
    const client = await served([growing])
    await expect(client.create(widgets, widget({ a: 1 }))).resolves.toBeDefined()
  })

  it('applies to a change', async () => {
    const client = await served([growing])
    await client.create(widgets, widget({ a: 5 }))
    await expect(client.patch(widgets, 'w', 'default', { spec: { a: 6 } })).resolves.toBeDefined()
    const error = await refusal(client.patch(widgets, 'w', 'default', { spec: { a: 4 } }))
    expect(says(error)).toEqual([['spec', 'FieldValueInvalid', 'Invalid value: a may not shrink']])
  })

  it('applies to a new object too if oldSelf is optional', async () => {
    const client = await served([{ rule: 'oldSelf.hasValue() || self.a == 1', optionalOldSelf: true }])
    expect((await refusal(client.create(widgets, widget({ a: 2 })))).code).toBe(422)
    await client.create(widgets, widget({ a: 1 }))
    await expect(client.patch(widgets, 'w', 'default', { spec: { a: 2 } })).resolves.toBeDefined()
  })

  it('matches items of a list by their key', async () => {
    const items = {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', maxLength: 9 }, n: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.n >= oldSelf.n', message: 'n may not shrink' }],
    }
    const list = { type: 'array', maxItems: 5, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items }
    const client = await served([], { ports: list })
    await client.create(widgets, widget({ ports: [{ name: 'x', n: 5 }] }))
    const ports = [
      { name: 'new', n: 0 },
      { name: 'x', n: 4 },
    ]
    const error = await refusal(client.patch(widgets, 'w', 'default', { spec: { ports } }))
    expect(says(error)).toEqual([['spec.ports[1]', 'FieldValueInvalid', 'Invalid value: n may not shrink']])
  })
})

it('objects stored before the rule remain valid until they change', async () => {
  const client = await served([])
  await client.create(widgets, widget({ a: 1 }))
  const crd = await client.get(resources.customResourceDefinitions, 'widgets.example.com')
  const { spec } = definition([{ rule: 'self.a > 2' }]) as { readonly spec: object }
  await client.update(resources.customResourceDefinitions, { ...crd, spec })
  await expect(client.patch(widgets, 'w', 'default', { metadata: { labels: { x: 'y' } } })).resolves.toBeDefined()
  expect((await refusal(client.patch(widgets, 'w', 'default', { spec: { b: 'z' } }))).code).toBe(422)
})

describe('a definition is refused for a rule', () => {
  const quoted = (rule: string): string =>
    `Invalid value: {"Rule":"${rule}","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: `
  const tooDear = 'exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems'
  const cases: Record<string, { rule: Rule; field: string; says: string }> = {
    'about a field that does not exist': {
      rule: { rule: 'self.nope == 1' },
      field: 'rule',
      says: `${quoted('self.nope == 1')}compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == 1\n | ....^`,
    },
    'that compares values of different types': {
      rule: { rule: 'self.a > self.b' },
      field: 'rule',
      says: `${quoted('self.a \\u003e self.b')}compilation failed: ERROR: <input>:1:8: found no matching overload for '_>_' applied to '(int, string)'`,
    },
    'with a syntax error': { rule: { rule: 'self.a >' }, field: 'rule', says: 'compilation failed: ERROR: <input>:1:9: Syntax error: ' },
    'that is not a bool': { rule: { rule: 'self.a' }, field: 'rule', says: 'cel expression must evaluate to a bool' },
    'that is empty': { rule: { rule: ' ' }, field: 'rule', says: 'Required value: rule is not specified' },
    'whose message is not a string': {
      rule: { rule: 'self.a > 1', messageExpression: 'self.a' },
      field: 'messageExpression',
      says: 'messageExpression must evaluate to a string',
    },
    'with an invalid field path': {
      rule: { rule: 'self.a > 1', fieldPath: '.zz' },
      field: 'fieldPath',
      says: 'Invalid value: ".zz": must be a valid path',
    },
    'for a reason that does not exist': {
      rule: { rule: 'self.a > 1', reason: 'Nope' },
      field: 'reason',
      says: 'Unsupported value: "Nope": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
    },
    'that is too expensive': {
      rule: { rule: 'self.names.all(x, self.names.all(y, x == y))' },
      field: 'rule',
      says: `Forbidden: estimated rule cost ${tooDear}`,
    },
    'with optionalOldSelf but without oldSelf': {
      rule: { rule: 'self.a > 1', optionalOldSelf: true },
      field: 'optionalOldSelf',
      says: 'Invalid value: true: may not be set if oldSelf is not used in rule',
    },
  }
  it.each(Object.entries(cases))('%s', async (_name, { rule, field, says: want }) => {
    const client = aServer().server.clientFor(tester)
    const error = await refusal(client.create(resources.customResourceDefinitions, definition([rule])))
    expect(error).toMatchObject({ code: 422 })
    const cause = error.status.details?.causes?.find((candidate) => candidate.field === `${atSpec}.${field}`)
    expect(cause?.message).toContain(want)
  })

  it('about an old value among items without a key', async () => {
    const items = { type: 'string', maxLength: 10, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] }
    const client = aServer().server.clientFor(tester)
    const crd = definition([], { few: { type: 'array', maxItems: 5, items } })
    const at = 'spec.validation.openAPIV3Schema.properties[spec].properties[few]'
    const error = await refusal(client.create(resources.customResourceDefinitions, crd))
    expect(error.message).toContain(`oldSelf cannot be used on the uncorrelatable portion of the schema within ${at}`)
  })
})
