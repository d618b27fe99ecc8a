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
      ['authentication.k8s.io', 'authentication.k8s.io/v1'],
      ['authorization.k8s.io', 'authorization.k8s.io/v1'],
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

describe('aggregated discovery', () => {
  const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const v2beta1 = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'

  interface GroupDiscovery {
    readonly metadata: { readonly name?: string }
    readonly versions: readonly { readonly version: string; readonly resources: readonly { readonly resource: string }[] }[]
  }

  it.each([
    [v2, 'apidiscovery.k8s.io/v2', v2],
    [`${v2},${v2beta1},application/json`, 'apidiscovery.k8s.io/v2', v2],
    [v2beta1, 'apidiscovery.k8s.io/v2beta1', v2beta1],
    [`application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,${v2beta1}`, 'apidiscovery.k8s.io/v2beta1', v2beta1],
    ['application/json', 'v1', 'application/json'],
    [`application/json,${v2}`, 'v1', 'application/json'],
  ])('answers Accept %s with %s', async (accept, apiVersion, contentType) => {
    const { headers, text } = await createStub().send('GET', '/apis', { headers: { accept } })
    expect([(JSON.parse(text) as { apiVersion: string }).apiVersion, headers['content-type']]).toEqual([apiVersion, contentType])
  })

  it('names every group in one document, and the core group in another', async () => {
    const core = await discovered('/api')
    const groups = await discovered('/apis')
    expect([core.map(nameOf), groups.map(nameOf)]).toEqual([
      [undefined],
      ['apps', 'authentication.k8s.io', 'authorization.k8s.io', 'example.com'],
    ])
  })

  it('describes a resource like the older form', async () => {
    const [core] = await discovered('/api')
    expect(core?.versions[0]?.resources.find(({ resource }) => resource === 'pods')).toEqual({
      resource: 'pods',
      responseKind: { group: '', version: '', kind: 'Pod' },
      scope: 'Namespaced',
      singularResource: 'pod',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['po'],
      categories: ['all'],
      subresources: [
        { subresource: 'binding', responseKind: { group: '', version: '', kind: 'Binding' }, verbs: ['create'] },
        { subresource: 'eviction', responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' }, verbs: ['create'] },
        { subresource: 'status', responseKind: { group: '', version: '', kind: 'Pod' }, verbs: ['get', 'patch', 'update'] },
      ],
    })
  })

  it('is not sent again to a client that has it', async () => {
    const stub = createStub()
    const { headers } = await stub.send('GET', '/apis', { headers: { accept: v2 } })
    const again = await stub.send('GET', '/apis', { headers: { accept: v2, 'if-none-match': headers['etag']! } })
    expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', headers['etag']])
  })

  it('has another ETag once another resource exists', async () => {
    const tags = await Promise.all(
      [createStub(), createStub([], [widgets])].map(
        async (stub) => (await stub.send('GET', '/apis', { headers: { accept: v2 } })).headers['etag'],
      ),
    )
    expect(tags[0]).not.toBe(tags[1])
  })

  it('orders the versions of a group by their stability', async () => {
    const versions = ['v1alpha1', 'v2beta1', 'v1', 'v1beta2', 'v1beta10', 'v2']
    const things = definition('example.com', 'Thing', 'things', { customResourceDefinition, versions })
    const { json } = await createStub([], [things]).send('GET', '/apis/example.com')
    expect((json as { versions: { version: string }[] }).versions.map(({ version }) => version)).toEqual([
      'v2',
      'v1',
      'v2beta1',
      'v1beta10',
      'v1beta2',
      'v1alpha1',
    ])
  })

  async function discovered(path: string): Promise<readonly GroupDiscovery[]> {
    const { text } = await createStub([], [widgets]).send('GET', path, { headers: { accept: v2 } })
    return (JSON.parse(text) as { items: readonly GroupDiscovery[] }).items
  }

  function nameOf({ metadata }: GroupDiscovery): string | undefined {
    return metadata.name
  }
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
    expect(Object.keys(paths)).toEqual([
      'api/v1',
      'apis/apps/v1',
      'apis/authentication.k8s.io/v1',
      'apis/authorization.k8s.io/v1',
      'apis/example.com/v1',
    ])
    for (const { serverRelativeURL } of Object.values(paths)) expect(await get(serverRelativeURL)).toMatchObject({ openapi: '3.0.0' })
  })

  it('may be cached forever under a URL with its hash, and redirects to it from another hash', async () => {
    const stub = createStub([], [widgets])
    const { paths } = (await stub.send('GET', '/openapi/v3')).json as { paths: Record<string, { serverRelativeURL: string }> }
    const url = paths['apis/apps/v1']!.serverRelativeURL
    const kept = await stub.send('GET', url)
    const moved = await stub.send('GET', '/openapi/v3/apis/apps/v1?hash=OLD')
    expect(kept.headers).toMatchObject({ 'cache-control': 'public, immutable', etag: `"${url.split('hash=')[1]}"` })
    expect([moved.status, moved.headers['location']]).toEqual([301, url])
  })

  it('is not sent again to a client that has it', async () => {
    const stub = createStub()
    const { headers } = await stub.send('GET', '/openapi/v3/api/v1')
    expect((await stub.send('GET', '/openapi/v3/api/v1', { headers: { 'if-none-match': headers['etag']! } })).status).toBe(304)
  })

  it('has version 2 in protobuf only, with nothing in it, and version 3 in JSON only', async () => {
    const stub = createStub([], [widgets])
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    const { status, headers } = await stub.send('GET', '/openapi/v2', { headers: { accept } })
    expect([status, headers['content-type']]).toEqual([200, 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'])
    expect((await stub.send('GET', '/openapi/v2')).status).toBe(406)
    expect((await stub.send('GET', '/openapi/v3/api/v1', { headers: { accept } })).status).toBe(406)
  })

  it('shows how lists merge', async () => {
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

  it('says that a patch accepts fieldValidation, and which formats', async () => {
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

  it('has no broken reference', async () => {
    for (const path of ['api/v1', 'apis/apps/v1', 'apis/example.com/v1']) {
      const document = (await get(`/openapi/v3/${path}`)) as Document
      const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1])
      expect(references.filter((name) => document.components.schemas[name ?? ''] === undefined)).toEqual([])
    }
  })
})

describe('reviews about oneself', () => {
  it('return the user', async () => {
    const answer = await createStub().send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { body: '{}' })
    expect(answer).toMatchObject({ status: 201, json: { status: { userInfo: { username: 'admin' } } } })
  })

  it('allow everything', async () => {
    const answer = await createStub().send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      body: '{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}',
    })
    expect(answer.json).toMatchObject({ status: { allowed: true } })
  })
})
