import { customResourceDefinitions, type DefinedKind, missingFields, type StructuralSchema, unknownFields } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'

function schemaOf(kind: DefinedKind): StructuralSchema {
  return structuredClone(customResourceDefinitions.find(({ spec }) => spec.names.kind === kind)!.spec.versions[0]!.schema.openAPIV3Schema)
}

describe('missingFields', () => {
  it.each<DefinedKind>(['Rollout', 'BatchRelease'])('finds nothing in the current schema: %s', (kind) => {
    expect(missingFields(kind, schemaOf(kind))).toEqual([])
  })

  it('names only the topmost missing field, also below lists', () => {
    const schema = schemaOf('BatchRelease') as { properties: Record<string, { properties: Record<string, unknown> }> }
    delete schema.properties['spec']!.properties['tranche']
    const flight = schema.properties['status']!.properties['flight'] as { properties: Record<string, { items: { properties: object } }> }
    flight.properties['permits']!.items.properties = { node: {}, podUid: {}, wasBad: {} }
    expect(missingFields('BatchRelease', schema)).toEqual(['spec.tranche', 'status.flight.permits[].podResourceVersion'])
  })

  it('finds nothing if unknown fields are preserved', () => {
    expect(missingFields('Rollout', { 'x-kubernetes-preserve-unknown-fields': true })).toEqual([])
  })

  it('names every top-level field if there is no schema', () => {
    expect(missingFields('Rollout', undefined)).toEqual(['apiVersion', 'kind', 'metadata', 'spec', 'status'])
  })
})

describe('unknownFields', () => {
  it.each<[string, unknown, readonly (readonly (string | number)[])[]]>([
    ['finds nothing in known fields', { metadata: { labels: { a: 'b' } }, spec: { workloadRef: { kind: 'DaemonSet' } } }, []],
    ['finds top-level fields', { speck: {} }, [['speck']]],
    [
      'finds fields in lists',
      { spec: { strategy: { canary: { steps: [{}, { replica: 1 }] } } } },
      [['spec', 'strategy', 'canary', 'steps', 1, 'replica']],
    ],
    ['skips objects that preserve unknown fields', { spec: { strategy: { canary: { trafficRoutings: [{ more: 1 }] } } } }, []],
    ['skips values of another type', { spec: { strategy: 'fast', workloadRef: [1] } }, []],
    [
      'finds fields with the names of built-in object members',
      JSON.parse('{"spec":{"__proto__":{},"toString":1}}'),
      [
        ['spec', '__proto__'],
        ['spec', 'toString'],
      ],
    ],
  ])('%s', (_, value, paths) => {
    expect(unknownFields('Rollout', value, 10)).toEqual(paths)
  })
})
