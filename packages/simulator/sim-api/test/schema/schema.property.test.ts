import { createCustomResourceSchema, decodeBuiltin } from '@tranche/sim-api'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { createStub } from '../http/stub-api-server.ts'

const name = fc.constantFrom('a', 'b', 'c')
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(1, 1.5, 'x', true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(name, tie('value'), { maxKeys: 3 }),
})).object as fc.Arbitrary<Record<string, unknown>>

const leaf = fc.constantFrom<object>(
  { type: 'integer' },
  { type: 'string', default: 'x' },
  { 'x-kubernetes-preserve-unknown-fields': true },
)
const schema = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('list'), tie('map'), tie('object')),
  list: fc.record({ type: fc.constant('array'), items: tie('any') }),
  map: fc.record({ type: fc.constant('object'), additionalProperties: tie('any') }),
  object: fc.record(
    { type: fc.constant('object'), properties: fc.dictionary(name, tie('any')), default: fc.constant({}) },
    { requiredKeys: ['type', 'properties'] },
  ),
})).object as fc.Arbitrary<object>

describe('for every schema and object', () => {
  it('pruning twice is the same as once', () => {
    fc.assert(
      fc.property(schema, json, (openAPIV3Schema, object) => {
        const { prune } = createCustomResourceSchema(openAPIV3Schema)
        return prune(prune(object).object).unknownFields.length === 0
      }),
    )
  })

  it('applying defaults twice is the same as once', () => {
    fc.assert(
      fc.property(schema, json, (openAPIV3Schema, object) => {
        const { applyDefaults } = createCustomResourceSchema(openAPIV3Schema)
        const once = applyDefaults(object)
        return applyDefaults(once) === once
      }),
    )
  })

  it('defaults never add an unknown field', () => {
    fc.assert(
      fc.property(schema, json, (openAPIV3Schema, object) => {
        const { prune, applyDefaults } = createCustomResourceSchema(openAPIV3Schema)
        return prune(applyDefaults(prune(object).object)).unknownFields.length === 0
      }),
    )
  })
})

it('decoding a built-in kind twice is the same as once', () => {
  const pod = fc.record({ metadata: json, spec: fc.record({ containers: fc.array(json), volumes: fc.array(json), nodeSelector: json }) })
  fc.assert(
    fc.property(pod, (object) => {
      const once = decodeBuiltin('core/v1.Pod', object)
      if (once.typeError !== undefined) return true
      return JSON.stringify(decodeBuiltin('core/v1.Pod', once.object).object) === JSON.stringify(once.object)
    }),
  )
})

it('parts shared with a decoded object do not change the result of decoding', () => {
  const pod = fc.record({ metadata: json, spec: fc.record({ containers: fc.array(json), volumes: fc.array(json), nodeSelector: json }) })
  fc.assert(
    fc.property(pod, pod, (before, changed) => {
      const known = decodeBuiltin('core/v1.Pod', before)
      if (known.typeError !== undefined) return true
      const spec = { ...(known.object['spec'] as object), nodeSelector: changed.spec.nodeSelector, volumes: changed.spec.volumes }
      const object = { ...known.object, metadata: changed.metadata, spec }
      return JSON.stringify(decodeBuiltin('core/v1.Pod', object, known.object)) === JSON.stringify(decodeBuiltin('core/v1.Pod', object))
    }),
  )
})

it('JSON written by JSON.stringify is never reported to have a duplicate field', async () => {
  const stub = createStub()
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (object) => {
      const answer = await stub.send('POST', '/api/v1/namespaces/x/pods?fieldValidation=Strict', { body: JSON.stringify(object) })
      return answer.status === 200
    }),
  )
})
