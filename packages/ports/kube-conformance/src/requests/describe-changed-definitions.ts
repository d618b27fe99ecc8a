import { describe, expect } from 'vitest'
import type { Api } from '../fixtures/api.ts'
import { type Answer, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { pathOf } from '../fixtures/paths.ts'
import { specSchema, typed, widget, type Widgets, withWidgets } from './widgets.ts'

/** Without `low`, among others. */
const narrowSchema = {
  type: 'object',
  properties: { size: specSchema.properties.size, mode: specSchema.properties.mode, replicas: { type: 'integer' } },
}

/** Effect of a replaced CustomResourceDefinition on its objects. */
export function describeChangedDefinitions(base: ConformanceTest): void {
  const it = withWidgets(base)

  describe('a custom resource whose definition changes', () => {
    it('is read by the current definition: a dropped field returns with a definition that has it', async ({ api, widgets }) => {
      await api.create(widgets.path(), typed(widgets, widget({ size: 7, low: 1 })))
      await redefine(api, widgets, narrowSchema)
      const reduced = await api.getUntil(widgets.path('a'), 'a widget without its field', hasLow(false))
      expect(reduced.body['spec']).toEqual({ size: 7 })
      await redefine(api, widgets, specSchema)
      const whole = await api.getUntil(widgets.path('a'), 'a widget with its field', hasLow(true))
      expect(whole.body['spec']).toEqual({ size: 7, low: 1 })
      expect(whole.body.metadata.resourceVersion).toBe(reduced.body.metadata.resourceVersion)
    })

    it('loses unknown fields with the next write, even one that changes nothing', async ({ api, widgets }) => {
      const { metadata } = await api.create(widgets.path(), typed(widgets, widget({ size: 7, low: 1 })))
      await redefine(api, widgets, narrowSchema)
      await api.getUntil(widgets.path('a'), 'a widget without its field', hasLow(false))
      const { body } = await api.patch(widgets.path('a'), 'merge', { spec: { size: 7 } })
      expect(body.metadata.resourceVersion).not.toBe(metadata.resourceVersion)
      expect(body.metadata.generation).toBe(1)
      await redefine(api, widgets, specSchema)
      // Once the definition is visible, later reads use it.
      await api.askUntil(
        () => api.post(widgets.path(), typed(widgets, widget({ low: 1 }, { name: 'b' })), { query: { dryRun: 'All' } }),
        'the definition with the field',
        hasLow(true),
      )
      expect((await api.get(widgets.path('a'))).body['spec']).toEqual({ size: 7 })
    })

    it('keeps its stored fields if a strict write sets a field that the definition lacks', async ({ api, widgets }) => {
      const { body: stored } = await api.post(widgets.path(), typed(widgets, widget({ size: 7, low: 1 })))
      await redefine(api, widgets, narrowSchema)
      await api.getUntil(widgets.path('a'), 'a widget without its field', hasLow(false))
      const changed = { ...stored, spec: { size: 8, low: 1 } }
      const { status, body } = await api.put(widgets.path('a'), changed, { query: { fieldValidation: 'Strict' } })
      expect([status, body['reason']]).toEqual([400, 'BadRequest'])
      await redefine(api, widgets, specSchema)
      const whole = await api.getUntil(widgets.path('a'), 'a widget with its field', hasLow(true))
      expect(whole.body['spec']).toEqual({ size: 7, low: 1 })
    })

    it('keeps its stored fields if a JSON Patch tests a field that the definition lacks', async ({ api, widgets }) => {
      await api.post(widgets.path(), typed(widgets, widget({ size: 7, low: 1 })))
      await redefine(api, widgets, narrowSchema)
      await api.getUntil(widgets.path('a'), 'a widget without its field', hasLow(false))
      const size = { op: 'replace', path: '/spec/size', value: 8 }
      const { status, body } = await api.patch(widgets.path('a'), 'json', [{ op: 'test', path: '/spec/low', value: 1 }, size])
      expect([status, body['reason']]).toEqual([422, 'Invalid'])
      await redefine(api, widgets, specSchema)
      const whole = await api.getUntil(widgets.path('a'), 'a widget with its field', hasLow(true))
      expect(whole.body['spec']).toEqual({ size: 7, low: 1 })
    })

    it('must be watched again after its definition has changed', async ({ api, widgets }) => {
      await api.create(widgets.path(), typed(widgets, widget({ low: 1 })))
      const watch = await api.watch(widgets.path())
      expect((await watch.next()).type).toBe('ADDED')
      await redefine(api, widgets, narrowSchema)
      expect(await watch.rest()).toEqual([])
      // Until its new cache is filled, a server answers 429.
      const { body } = await api.getUntil(widgets.path(), 'the list by the new definition', ({ status }) => status === 200)
      expect(body.items.map((item) => item['spec'])).toEqual([{ size: 3 }])
    })
  })
}

/** New schema of `spec`. */
async function redefine(api: Api, { group }: Widgets, spec: object): Promise<void> {
  const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec'
  const answer = await api.patch(pathOf.customResourceDefinitions(`widgets.${group}`), 'json', [{ op: 'replace', path, value: spec }])
  expect(answer.status).toBe(200)
}

function hasLow(isThere: boolean): (answer: Answer) => boolean {
  return ({ status, body }) => status < 300 && (valueAt(body, 'spec.low') !== undefined) === isThere
}
