import { describe, expect, it } from 'vitest'
import { resources } from '@tranche/sim-api'
import { aServer, at, aWidgetDefinition, refusal } from '../testing.ts'

const tester = { name: 'tester' }
const widgets = { group: 'example.com', resource: 'widgets' }

describe('a custom resource', () => {
  it('is served once its definition exists, which reports that', async () => {
    const { client, server } = setUp()
    expect((await refusal(client.list(widgets))).code).toBe(404)
    await client.create(resources.customResourceDefinitions, aWidgetDefinition())
    const definition = await client.get(resources.customResourceDefinitions, 'widgets.example.com')
    expect(at(definition, 'status')).toMatchObject({
      conditions: [
        { type: 'NamesAccepted', status: 'True' },
        { type: 'Established', status: 'True' },
      ],
      acceptedNames: { plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' },
      storedVersions: ['v1'],
    })
    expect(server.findDefinition(widgets)).toMatchObject({ kind: 'Widget', namespaced: true, subresources: ['status'] })
    expect((await client.list(widgets)).items).toEqual([])
  })

  it('is pruned, gets its defaults, and is checked by its schema', async () => {
    const { client } = await defined()
    const created = await client.create(widgets, aWidget({ size: 3, shape: 'round' }))
    expect(created['spec']).toEqual({ size: 3, colour: 'grey' })
    const error = await refusal(client.create(widgets, { ...aWidget({ size: -1 }), metadata: { name: 'b', namespace: 'default' } }))
    expect([error.code, error.status.details?.causes?.[0]?.field]).toEqual([422, 'spec.size'])
  })

  it('counts spec changes in its generation, and accepts its status only through the subresource', async () => {
    const { client } = await defined()
    await client.create(widgets, { ...aWidget({ size: 1 }), status: { seen: 9 } })
    const changed = await client.patch(widgets, 'a', 'default', { spec: { size: 2 }, status: { seen: 9 } })
    expect([changed.metadata.generation, changed['status']]).toEqual([2, undefined])
    const patch = { metadata: { labels: { a: 'b' } }, spec: { size: 5 }, status: { seen: 9 } }
    const reported = await client.patch(widgets, 'a', 'default', patch, 'status')
    expect(reported).toMatchObject({ metadata: { generation: 2 }, spec: { size: 2 }, status: { seen: 9 } })
    expect(reported.metadata.labels).toBeUndefined()
  })

  it('accepts no strategic merge patch', async () => {
    const { client, server } = await defined()
    await client.create(widgets, aWidget({ size: 1 }))
    const request = {
      actor: tester,
      verb: 'patch',
      resource: widgets,
      namespace: 'default',
      name: 'a',
      patchType: 'strategic-merge-patch',
      body: {},
    } as const
    expect((await refusal(server.handle(request))).code).toBe(415)
  })

  it('is deleted with its definition, which waits for it', async () => {
    const { client } = await defined()
    await client.create(widgets, {
      ...aWidget({ size: 1 }),
      metadata: { name: 'a', namespace: 'default', finalizers: ['example.com/hold'] },
    })
    await client.delete(resources.customResourceDefinitions, 'widgets.example.com', undefined)
    expect((await client.get(widgets, 'a', 'default')).metadata.deletionTimestamp).toBeDefined()
    await client.patch(widgets, 'a', 'default', { metadata: { finalizers: null } })
    expect((await refusal(client.get(resources.customResourceDefinitions, 'widgets.example.com'))).code).toBe(404)
    expect((await refusal(client.list(widgets))).code).toBe(404)
  })

  it('needs a definition with the matching name', async () => {
    const { client } = setUp()
    const definition = { ...aWidgetDefinition(), metadata: { name: 'widgets' } }
    const error = await refusal(client.create(resources.customResourceDefinitions, definition))
    expect(error.status.details?.causes?.[0]?.field).toBe('metadata.name')
  })
})

function setUp() {
  const { server } = aServer()
  return { server, client: server.clientFor(tester) }
}

async function defined() {
  const { server, client } = setUp()
  await client.create(resources.customResourceDefinitions, aWidgetDefinition())
  return { server, client }
}

function aWidget(spec: object) {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', namespace: 'default' }, spec }
}
