import { type ApiObject, schemaSource } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'

describe('a schema of a CustomResourceDefinition is refused', () => {
  const cases: Record<string, { schema: object; field: string; message: string }> = {
    'without a type at the root': {
      schema: { type: 'string' },
      field: 'type',
      message: 'Invalid value: "string": must be object at the root',
    },
    'with a field without a type': {
      schema: of({ description: 'no type' }),
      field: 'properties[a].type',
      message: 'Required value: must not be empty for specified object fields',
    },
    'with a list without items': {
      schema: of({ type: 'array' }),
      field: 'properties[a].items',
      message: 'Required value: must be specified',
    },
    'with a map that also has fields': {
      schema: of({ type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } }),
      field: 'properties[a].additionalProperties',
      message: 'Forbidden: additionalProperties and properties are mutual exclusive',
    },
    'with additionalProperties: false': {
      schema: of({ type: 'object', additionalProperties: false }),
      field: 'properties[a].additionalProperties',
      message: 'Forbidden: additionalProperties cannot be set to false',
    },
    'with a reference': {
      schema: of({ type: 'object', $ref: '#/x' }),
      field: 'properties[a].$ref',
      message: 'Forbidden: $ref is not supported',
    },
    'with a type inside anyOf': {
      schema: of({ type: 'object', anyOf: [{ type: 'object' }] }),
      field: 'properties[a].anyOf[0].type',
      message: 'Forbidden: must be empty to be structural',
    },
    'with an invalid pattern': {
      schema: of({ type: 'string', pattern: '(' }),
      field: 'properties[a].pattern',
      message: 'Invalid value: "(": must be a valid regular expression',
    },
    'with a default that it does not allow': {
      schema: of({ type: 'string', enum: ['a'], default: 'b' }),
      field: 'properties[a].default',
      message: 'Unsupported value: "b": supported values: "a"',
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { schema, field, message }) => {
    expect(() => schemaSource.custom(definition(schema), 'v1')).toThrow(
      expect.objectContaining({
        code: 422,
        status: expect.objectContaining({
          details: expect.objectContaining({
            causes: [expect.objectContaining({ field: `spec.validation.openAPIV3Schema.${field}`, message })],
          }),
        }),
      }),
    )
  })
})

it('an int-or-string may declare both types in anyOf', () => {
  const schema = of({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] })
  expect(schemaSource.custom(definition(schema), 'v1').validate({ a: '10%' })).toEqual([])
})

function of(a: object): object {
  return { type: 'object', properties: { a } }
}

function definition(openAPIV3Schema: object): ApiObject {
  const metadata = { name: 'widgets.example.com', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' }
  const spec = { names: { kind: 'Widget' }, versions: [{ name: 'v1', schema: { openAPIV3Schema } }] }
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec }
}
