import { describe, expect, it } from 'vitest'
import { createStub, definition, pod } from './stub-api-server.ts'

const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } }
const customResourceDefinition = pod('widgets.example.com', { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema } }] } })
const widgets = definition('example.com', 'Widget', 'widgets', { customResourceDefinition })

async function get(path: string): Promise<unknown> {
  return (await createStub([], [widgets]).send('GET', path)).json
}

describe('discovery', () => {
  it('names the versions of the core group', async () => {
    expect(await get('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] })
  })

  it('names each group once, custom ones too', async () => {
    const { groups } = (await get('/apis')) as { groups: { name: string; preferredVersion: { groupVersion: string } }[] }
    expect(groups.map((group) => [group.name, group.preferredVersion.groupVersion])).toEqual([
      ['apps', 'apps/v1'],
      ['example.com', 'example.com/v1'],
    ])
  })

  it('names one group', async () => {
    expect(await get('/apis/apps')).toMatchObject({ kind: 'APIGroup', name: 'apps' })
  })

  it('names the resources of a version with their subresources', async () => {
    const { resources } = (await get('/api/v1')) as { resources: { name: string; kind: string; group?: string }[] }
    expect(resources.find((resource) => resource.name === 'pods')).toMatchObject({
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      shortNames: ['po'],
      categories: ['all'],
    })
    expect(resources.find((resource) => resource.name === 'pods/eviction')).toMatchObject({ group: 'policy', kind: 'Eviction' })
  })

  it.each(['/apis/none', '/apis/apps/v2', '/api/v2', '/openapi/v3/apis/none/v1'])('%s is not found', async (path) => {
    expect((await createStub().send('GET', path)).status).toBe(404)
  })
})

describe('OpenAPI', () => {
  interface Document {
    readonly paths: Record<
      string,
      { readonly patch?: { readonly parameters: { name: string }[]; readonly requestBody: { content: object } } }
    >
    readonly components: { readonly schemas: Record<string, { readonly properties: Record<string, object> }> }
  }

  it('has a document for each group and version', async () => {
    const { paths } = (await get('/openapi/v3')) as { paths: Record<string, { serverRelativeURL: string }> }
    expect(Object.keys(paths)).toEqual(['api/v1', 'apis/apps/v1', 'apis/example.com/v1'])
    for (const { serverRelativeURL } of Object.values(paths)) expect(await get(serverRelativeURL)).toMatchObject({ openapi: '3.0.0' })
  })

  it('tells how lists merge', async () => {
    const { components } = (await get('/openapi/v3/api/v1')) as Document
    expect(components.schemas['io.k8s.api.core.v1.PodSpec']?.properties['volumes']).toMatchObject({
      type: 'array',
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge,retainKeys',
    })
  })

  it('marks kinds with group, version and kind', async () => {
    const { components } = (await get('/openapi/v3/apis/apps/v1')) as Document
    expect(components.schemas['io.k8s.api.apps.v1.DaemonSet']).toMatchObject({
      'x-kubernetes-group-version-kind': [{ group: 'apps', version: 'v1', kind: 'DaemonSet' }],
    })
  })

  it('says that a patch takes fieldValidation, and which formats', async () => {
    const { paths } = (await get('/openapi/v3/apis/apps/v1')) as Document
    const patch = paths['/apis/apps/v1/namespaces/{namespace}/daemonsets/{name}']?.patch
    expect(patch?.parameters.map((parameter) => parameter.name)).toContain('fieldValidation')
    expect(Object.keys(patch?.requestBody.content ?? {})).toContain('application/strategic-merge-patch+json')
  })

  it('shows the schema of a custom resource', async () => {
    const { components } = (await get('/openapi/v3/apis/example.com/v1')) as Document
    expect(components.schemas['com.example.v1.Widget']).toMatchObject({
      properties: { spec: { properties: { size: { type: 'integer' } } } },
      'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widget' }],
    })
  })

  it('refers to nothing that is not there', async () => {
    for (const path of ['api/v1', 'apis/apps/v1', 'apis/example.com/v1']) {
      const document = (await get(`/openapi/v3/${path}`)) as Document
      const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1])
      expect(references.filter((name) => document.components.schemas[name ?? ''] === undefined)).toEqual([])
    }
  })
})

describe('reviews about oneself', () => {
  it('say who asks', async () => {
    const answer = await createStub().send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { body: '{}' })
    expect(answer).toMatchObject({ status: 201, json: { status: { userInfo: { username: 'admin' } } } })
  })

  it('allow everything', async () => {
    const answer = await createStub().send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { body: '{"spec":{}}' })
    expect(answer.json).toMatchObject({ status: { allowed: true } })
  })
})
