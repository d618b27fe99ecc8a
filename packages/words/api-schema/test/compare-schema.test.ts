import { customResourceDefinitions, type DefinedKind, missingFields, type StructuralSchema, unknownFields } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'

function schemaOf(kind: DefinedKind): StructuralSchema {
  return structuredClone(customResourceDefinitions.find(({ spec }) => spec.names.kind === kind)!.spec.versions[0]!.schema.openAPIV3Schema)
}

describe('fields that a served schema lacks', () => {
  it.each<DefinedKind>(['Rollout', 'BatchRelease'])('are none where it is ours: %s', (kind) => {
    expect(missingFields(kind, schemaOf(kind))).toEqual([])
  })

  it('are named by the highest one, also below lists', () => {
    const schema = schemaOf('BatchRelease') as { properties: Record<string, { properties: Record<string, unknown> }> }
    delete schema.properties['spec']!.properties['tranche']
    const flight = schema.properties['status']!.properties['flight'] as { properties: Record<string, { items: { properties: object } }> }
    flight.properties['permits']!.items.properties = { node: {}, podUid: {}, wasBad: {} }
    expect(missingFields('BatchRelease', schema)).toEqual(['spec.tranche', 'status.flight.permits[].podResourceVersion'])
  })

  it('are none where everything is kept', () => {
    expect(missingFields('Rollout', { 'x-kubernetes-preserve-unknown-fields': true })).toEqual([])
  })

  it('are all of them where there is no schema', () => {
    expect(missingFields('Rollout', undefined)).toEqual(['apiVersion', 'kind', 'metadata', 'spec', 'status'])
  })
})

describe('fields that an object has and its definition has not', () => {
  it.each<[string, unknown, readonly (readonly (string | number)[])[]]>([
    ['are none of what is known', { metadata: { labels: { a: 'b' } }, spec: { workloadRef: { kind: 'DaemonSet' } } }, []],
    ['are found at the top', { speck: {} }, [['speck']]],
    [
      'are found in lists',
      { spec: { strategy: { canary: { steps: [{}, { replica: 1 }] } } } },
      [['spec', 'strategy', 'canary', 'steps', 1, 'replica']],
    ],
    ['are not looked for where anything may stand', { spec: { strategy: { canary: { trafficRoutings: [{ more: 1 }] } } } }, []],
    ['are not looked for in what has another form', { spec: { strategy: 'fast', workloadRef: [1] } }, []],
    [
      'named as members of every object are found',
      JSON.parse('{"spec":{"__proto__":{},"toString":1}}'),
      [
        ['spec', '__proto__'],
        ['spec', 'toString'],
      ],
    ],
  ])('%s', (_, value, paths) => {
    expect(unknownFields('Rollout', value)).toEqual(paths)
  })
})
