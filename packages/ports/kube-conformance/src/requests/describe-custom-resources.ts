import { describe, expect } from 'vitest'
import { causesOf, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { pathOf } from '../fixtures/paths.ts'
import { definitionOf, typed, widget, withWidgets } from './widgets.ts'

/** CustomResourceDefinitions, and what follows from them for the objects they bring. */
export function describeCustomResources(base: ConformanceTest): void {
  const it = withWidgets(base)

  describe('a custom resource', () => {
    it('gets its defaults, at any depth', async ({ api, widgets }) => {
      const { status, body } = await api.post(widgets.path(), typed(widgets, widget({ parts: [{ name: 'x' }] })))
      expect([status, body['spec']]).toEqual([201, { size: 3, parts: [{ name: 'x', weight: 1 }] }])
      expect(body.metadata.generation).toBe(1)
    })

    it('loses unknown fields, unless the schema preserves them', async ({ api, widgets }) => {
      const { body } = await api.post(widgets.path(), typed(widgets, widget({ colour: 'red', free: { colour: 'red' } })))
      expect(body['spec']).toEqual({ size: 3, free: { colour: 'red' } })
    })

    it('warns of unknown fields, and refuses them under strict validation', async ({ api, widgets }) => {
      const object = typed(widgets, widget({ colour: 'red' }))
      const strict = await api.post(widgets.path(), object, { query: { fieldValidation: 'Strict' } })
      expect(strict).toMatchObject({ status: 400, body: { reason: 'BadRequest' } })
      expect((await api.post(widgets.path(), object)).headers['warning']).toBe('299 - "unknown field \\"spec.colour\\""')
    })

    it.for([
      { title: 'a number below its minimum', spec: { size: 0 }, causes: ['FieldValueInvalid spec.size'] },
      { title: 'an integer of more than 64 bits', spec: { large: 9.3e18 }, causes: ['FieldValueTypeInvalid spec.large'] },
      { title: 'text for a number', spec: { size: 'big' }, causes: ['FieldValueTypeInvalid spec.size'] },
      { title: 'a value outside its enumeration', spec: { mode: 'c' }, causes: ['FieldValueNotSupported spec.mode'] },
      { title: 'a required field that is missing', spec: { parts: [{}] }, causes: ['FieldValueRequired spec.parts[0].name'] },
      {
        title: 'two items with the same key',
        spec: { parts: [{ name: 'x' }, { name: 'x' }] },
        causes: ['FieldValueDuplicate spec.parts[1]'],
      },
      { title: 'text that is too long', spec: { short: 'aaaaaa' }, causes: ['FieldValueTooLong spec.short'] },
      { title: 'text outside its pattern', spec: { short: 'A' }, causes: ['FieldValueInvalid spec.short'] },
      { title: 'an invalid time', spec: { when: 'now' }, causes: ['FieldValueTypeInvalid spec.when'] },
      { title: 'a rule that does not hold, by its reason and field', spec: { low: 2, high: 1 }, causes: ['FieldValueForbidden spec.low'] },
    ])('is refused for $title', async ({ spec, causes }, { api, widgets }) => {
      const answer = await api.post(widgets.path(), typed(widgets, widget(spec)))
      // Rules that could not be checked are a cause without a field.
      expect([answer.status, causesOf(answer).filter((cause) => cause !== 'FieldValueInvalid <nil>')]).toEqual([422, causes])
      expect(answer.body).toMatchObject({ reason: 'Invalid', details: { name: 'a', group: widgets.group, kind: 'Widget' } })
    })

    it('is refused for an integer beyond its format', async ({ api, widgets }) => {
      for (const [field, number, format] of [
        ['small', 2 ** 31, 'int32'],
        ['large', 9.3e18, 'int64'],
      ] as const) {
        const answer = await api.post(widgets.path(), typed(widgets, widget({ [field]: number })))
        expect(answer.status).toBe(422)
        expect(answer.body['message']).toContain(`must be of type integer with format ${format} in spec.${field}`)
      }
      expect((await api.post(widgets.path(), typed(widgets, widget({ small: 2 ** 31 - 1, large: 2 ** 62 })))).status).toBe(201)
    })

    it('accepts numbers and text in an int-or-string', async ({ api, widgets }) => {
      for (const [name, percent] of [
        ['a', 1],
        ['b', '1%'],
      ] as const)
        expect((await api.post(widgets.path(), typed(widgets, widget({ percent }, { name })))).status).toBe(201)
    })

    it('is checked by rules about its previous state', async ({ api, widgets }) => {
      await api.create(widgets.path(), typed(widgets, widget({ fixed: 'x' })))
      const answer = await api.patch(widgets.path('a'), 'merge', { spec: { fixed: 'y' } })
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueInvalid spec.fixed']])
      expect(answer.body['message']).toContain('is fixed')
    })

    it('requires a resource version in a PUT', async ({ api, widgets }) => {
      await api.create(widgets.path(), typed(widgets, widget()))
      const answer = await api.put(widgets.path('a'), typed(widgets, widget({ size: 5 })))
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueInvalid metadata.resourceVersion']])
    })

    it('separates spec and status', async ({ api, widgets }) => {
      const created = await api.create(widgets.path(), typed(widgets, { ...widget(), status: { ready: 1 } }))
      expect(created['status']).toBeUndefined()
      const status = await api.patch(widgets.path('a', 'status'), 'merge', {
        metadata: { labels: { a: 'b' } },
        spec: { size: 9 },
        status: { ready: 2 },
      })
      expect(status.body).toMatchObject({ spec: { size: 3 }, status: { ready: 2 }, metadata: { generation: 1 } })
      expect(status.body.metadata.labels).toBeUndefined()
      const spec = await api.patch(widgets.path('a'), 'merge', { spec: { size: 9 }, status: { ready: 7 } })
      expect(spec.body).toMatchObject({ spec: { size: 9 }, status: { ready: 2 }, metadata: { generation: 2 } })
    })

    it('raises the generation with anything but metadata and status', async ({ api, widgets }) => {
      await api.create(widgets.path(), typed(widgets, widget()))
      const labelled = await api.patch(widgets.path('a'), 'merge', { metadata: { labels: { a: 'b' } } })
      expect(labelled.body.metadata.generation).toBe(1)
    })

    it('accepts no strategic merge patch', async ({ api, widgets }) => {
      await api.create(widgets.path(), typed(widgets, widget()))
      expect((await api.patch(widgets.path('a'), 'strategic', { spec: { size: 5 } })).status).toBe(415)
    })

    it('scales by the paths that its definition names', async ({ api, widgets }) => {
      await api.create(widgets.path(), typed(widgets, widget({ replicas: 2 })))
      const { body } = await api.get(widgets.path('a', 'scale'))
      expect(body).toMatchObject({
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'a' },
        spec: { replicas: 2 },
        status: { replicas: 0 },
      })
      expect((await api.patch(widgets.path('a', 'scale'), 'merge', { spec: { replicas: 5 } })).status).toBe(200)
      expect(valueAt((await api.get(widgets.path('a'))).body, 'spec.replicas')).toBe(5)
      const scaled = { ...body, metadata: { name: 'a', namespace: body.metadata.namespace }, spec: { replicas: 7 } }
      expect((await api.put(widgets.path('a', 'scale'), scaled)).body).toMatchObject({ kind: 'Scale', spec: { replicas: 7 } })
      expect((await api.put(widgets.path('a', 'scale'), body)).status).toBe(409)
    })

    it('has no scale if its definition names no path of the replicas', async ({ api, widgets }) => {
      await api.create(widgets.path(), typed(widgets, widget()))
      expect((await api.get(widgets.path('a', 'scale'))).status).toBe(500)
      expect((await api.patch(widgets.path('a', 'scale'), 'merge', { spec: {} })).status).toBe(400)
    })

    it('has kind and apiVersion in lists', async ({ api, widgets }) => {
      await api.create(widgets.path(), typed(widgets, widget()))
      const { body } = await api.get(widgets.path())
      expect(body).toMatchObject({ kind: 'WidgetList', items: [{ kind: 'Widget', apiVersion: `${widgets.group}/v1` }] })
    })

    it('is shown with the columns of its definition', async ({ api, widgets }) => {
      await api.create(widgets.path(), typed(widgets, widget({ mode: 'b' })))
      const { body } = await api.get(widgets.path(), { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
      const columns = body['columnDefinitions'] as readonly { readonly name: string; readonly type: string; readonly priority: number }[]
      expect(columns.map(({ name, type, priority }) => [name, type, priority])).toEqual([
        ['Name', 'string', 0],
        ['Mode', 'string', 0],
        ['Size', 'integer', 1],
        ['Ready', 'integer', 0],
      ])
      expect(valueAt(body, 'rows.0.cells')).toEqual(['a', 'b', 3, null])
    })

    it('is selected by the fields that its definition names', async ({ api, widgets }) => {
      for (const [name, mode] of [
        ['a', 'a'],
        ['b', 'b'],
      ] as const)
        await api.create(widgets.path(), typed(widgets, widget({ mode }, { name })))
      const { body } = await api.get(widgets.path(), { query: { fieldSelector: 'spec.mode=b' } })
      expect(body.items.map(({ metadata }) => metadata.name)).toEqual(['b'])
    })

    it('appears in discovery with its names', async ({ api, widgets }) => {
      // Discovery follows a definition in its own time.
      const { body } = await api.getUntil(`/apis/${widgets.group}/v1`, 'the group in discovery', ({ status }) => status === 200)
      const list = body['resources'] as readonly { readonly name: string }[]
      expect(list.map(({ name }) => name).toSorted()).toEqual(['widgets', 'widgets/scale', 'widgets/status'])
      expect(list.find(({ name }) => name === 'widgets')).toMatchObject({
        kind: 'Widget',
        singularName: 'widget',
        namespaced: true,
        shortNames: ['wi'],
      })
    })
  })

  describe('a CustomResourceDefinition', () => {
    const change = (version: object): object => {
      const definition = definitionOf('refused.conformance.tranche.dev')
      return { ...definition, spec: { ...definition.spec, versions: [{ ...definition.spec.versions[0], ...version }] } }
    }
    const withSpec = (spec: object): object => ({ openAPIV3Schema: { type: 'object', properties: { spec } } })

    it('reports that it is established, under which names', async ({ api, widgets }) => {
      const { body } = await api.get(pathOf.customResourceDefinitions(`widgets.${widgets.group}`))
      expect(body['status']).toMatchObject({ acceptedNames: { kind: 'Widget', plural: 'widgets' }, storedVersions: ['v1'] })
      const conditions = valueAt(body, 'status.conditions') as readonly { readonly type: string; readonly status: string }[]
      expect(Object.fromEntries(conditions.map(({ type, status }) => [type, status]))).toMatchObject({
        Established: 'True',
        NamesAccepted: 'True',
      })
    })

    it.for([
      { title: 'no schema', version: { schema: undefined }, causes: ['FieldValueRequired spec.versions[0].schema.openAPIV3Schema'] },
      {
        title: 'a field without a type',
        version: { schema: withSpec({ type: 'object', properties: { a: {} } }) },
        causes: ['FieldValueRequired spec.validation.openAPIV3Schema.properties[spec].properties[a].type'],
      },
      {
        title: 'a rule that is not CEL',
        version: { schema: withSpec({ type: 'object', 'x-kubernetes-validations': [{ rule: 'self.(' }] }) },
        causes: ['FieldValueInvalid spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule'],
      },
      {
        title: 'a rule about an unknown field',
        version: { schema: withSpec({ type: 'object', 'x-kubernetes-validations': [{ rule: 'self.none == 1' }] }) },
        causes: ['FieldValueInvalid spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule'],
      },
      {
        title: 'a default that does not match its schema',
        version: { schema: withSpec({ type: 'object', properties: { a: { type: 'integer', default: 'x' } } }) },
        causes: ['FieldValueTypeInvalid spec.validation.openAPIV3Schema.properties[spec].properties[a].default'],
      },
      { title: 'no stored version', version: { storage: false }, causes: ['FieldValueInvalid spec.versions'] },
    ])('is refused for $title', async ({ version, causes }, { api }) => {
      const answer = await api.post(pathOf.customResourceDefinitions(), change(version), { query: { dryRun: 'All' } })
      expect([answer.status, causesOf(answer)]).toEqual([422, expect.arrayContaining(causes)])
    })

    it('is refused if its name is not that of its resource and group', async ({ api }) => {
      const answer = await api.post(
        pathOf.customResourceDefinitions(),
        { ...change({}), metadata: { name: 'other.conformance.tranche.dev' } },
        { query: { dryRun: 'All' } },
      )
      expect([answer.status, causesOf(answer)]).toEqual([422, expect.arrayContaining(['FieldValueInvalid metadata.name'])])
    })

    it('deletes its objects with it', async ({ api, widgets }) => {
      await api.create(widgets.path(), typed(widgets, widget()))
      await api.delete(pathOf.customResourceDefinitions(`widgets.${widgets.group}`))
      await api.until(
        pathOf.customResourceDefinitions(),
        `widgets.${widgets.group}`,
        'the end of the definition',
        (object) => object === undefined,
      )
      // Served for some milliseconds more.
      await api.getUntil(widgets.path(), 'the end of the resource', ({ status }) => status === 404)
    })
  })
}
