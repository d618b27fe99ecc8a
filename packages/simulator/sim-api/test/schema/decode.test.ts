import { decodeBuiltin, schemaSource } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'

describe('decodeBuiltin names unknown fields', () => {
  const cases: Record<string, { object: Record<string, unknown>; unknown: readonly string[] }> = {
    'at the root': { object: { foo: 1 }, unknown: ['foo'] },
    'inside spec': { object: { spec: { foo: 1, minReadySeconds: 2 } }, unknown: ['spec.foo'] },
    'inside a list, with the index': {
      object: { spec: { template: { spec: { containers: [{ name: 'a' }, { name: 'b', foo: 1 }] } } } },
      unknown: ['spec.template.spec.containers[1].foo'],
    },
    'inside metadata': { object: { metadata: { name: 'x', colour: 'red' } }, unknown: ['metadata.colour'] },
    'but not keys of a map': { object: { metadata: { labels: { foo: 'x' } } }, unknown: [] },
    'but not inside a value that may be anything': { object: { metadata: { managedFields: [{ fieldsV1: { 'f:x': {} } }] } }, unknown: [] },
  }

  it.each(Object.entries(cases))('%s', (_name, { object, unknown }) => {
    expect(decodeBuiltin('apps/v1.DaemonSet', object).unknownFields).toEqual(unknown)
  })
})

describe('decodeBuiltin reports type errors as the API server does', () => {
  const cases: Record<string, { spec: unknown; error: string | undefined }> = {
    'a string instead of a number': {
      spec: { minReadySeconds: 'ten' },
      error: 'json: cannot unmarshal string into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32',
    },
    'a fraction instead of a whole number': {
      spec: { minReadySeconds: 1.5 },
      error: 'json: cannot unmarshal number 1.5 into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32',
    },
    'an object instead of a list': {
      spec: { template: { spec: { containers: {} } } },
      error: 'json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container',
    },
    'a boolean in an environment variable': {
      spec: { template: { spec: { containers: [{ env: [{ name: 'A', value: true }] }] } } },
      error: 'json: cannot unmarshal bool into Go struct field EnvVar.spec.template.spec.containers.env.value of type string',
    },
    'an invalid quantity': {
      spec: { template: { spec: { containers: [{ resources: { limits: { cpu: 'much' } } }] } } },
      error: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    },
    'nothing about a percentage': { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: '10%' } } }, error: undefined },
    'nothing about null': { spec: { minReadySeconds: null }, error: undefined },
  }

  it.each(Object.entries(cases))('%s', (_name, { spec, error }) => {
    expect(decodeBuiltin('apps/v1.DaemonSet', { spec }).typeError).toBe(error)
  })
})

describe('decodeBuiltin keeps the same values as the API server', () => {
  it('drops nulls, unknown fields and empty optional maps and lists, and writes quantities as text', () => {
    const container = { name: 'a', image: 'i', args: [], resources: { requests: { cpu: 1 } }, foo: true }
    const object = {
      metadata: { name: 'x', creationTimestamp: null, labels: {} },
      spec: { template: { spec: { containers: [container] } } },
    }
    expect(decodeBuiltin('apps/v1.DaemonSet', object).object).toEqual({
      metadata: { name: 'x' },
      spec: { template: { spec: { containers: [{ name: 'a', image: 'i', resources: { requests: { cpu: '1' } } }] } } },
    })
  })

  it('keeps an empty object with a meaning', () => {
    const spec = { template: { spec: { containers: [], volumes: [{ name: 'v', emptyDir: {} }] } } }
    expect(decodeBuiltin('apps/v1.DaemonSet', { spec }).object).toEqual({ spec })
  })
})

describe('schemaSource', () => {
  it('refuses a value of a wrong type with 400', () => {
    const schema = schemaSource.builtIn('apps', 'v1', 'DaemonSet')
    expect(() => schema?.prune({ spec: 'none' })).toThrow(
      expect.objectContaining({
        code: 400,
        message:
          'DaemonSet in version "v1" cannot be handled as a DaemonSet: json: cannot unmarshal string into Go struct field DaemonSet.spec of type v1.DaemonSetSpec',
      }),
    )
  })

  it('has no schema for custom kinds', () => {
    expect(schemaSource.builtIn('apps', 'v1', 'StatefulSet')).toBeUndefined()
  })
})
