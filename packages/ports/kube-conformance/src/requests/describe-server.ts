import { describe, expect } from 'vitest'
import { type Body, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'

interface Resource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly singularName?: string
  readonly categories?: readonly string[]
}

/** Requests about the server itself: version, health, discovery, OpenAPI. */
export function describeServer(it: ConformanceTest): void {
  describe('the server', () => {
    it('reports its version', async ({ api }) => {
      const { status, body } = await api.get('/version')
      expect(status).toBe(200)
      expect(body).toMatchObject({
        major: '1',
        minor: expect.stringMatching(/^\d+/),
        gitVersion: expect.stringMatching(/^v1\.\d+\.\d+/),
        platform: expect.any(String),
      })
    })

    it.for(['/healthz', '/livez', '/readyz'])('returns ok at %s', async (path, { api }) => {
      expect(await api.get(path)).toMatchObject({ status: 200, text: 'ok' })
    })

    it('returns details on request', async ({ api }) => {
      expect((await api.get('/readyz?verbose')).text).toMatch(/\[\+\]ping ok[\s\S]*readyz check passed/)
    })

    it('gives every answer an audit id, and forbids caching', async ({ api }) => {
      const { headers } = await api.get('/api/v1/namespaces/default')
      expect(headers).toMatchObject({ 'audit-id': expect.stringMatching(/^[0-9a-f-]{36}$/), 'cache-control': 'no-cache, private' })
    })
  })

  describe('discovery', () => {
    it('lists the versions of the core group', async ({ api }) => {
      expect((await api.get('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] })
    })

    it('lists groups, their versions, and which is preferred', async ({ api }) => {
      const { body } = await api.get('/apis')
      expect(body).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' })
      const groups = body['groups'] as readonly { readonly name: string; readonly preferredVersion: object }[]
      for (const name of [
        'apps',
        'coordination.k8s.io',
        'policy',
        'apiextensions.k8s.io',
        'rbac.authorization.k8s.io',
        'authorization.k8s.io',
      ])
        expect(groups.find((group) => group.name === name)?.preferredVersion).toEqual({ groupVersion: `${name}/v1`, version: 'v1' })
    })

    it('describes one group', async ({ api }) => {
      const version = { groupVersion: 'apps/v1', version: 'v1' }
      expect((await api.get('/apis/apps')).body).toMatchObject({
        kind: 'APIGroup',
        name: 'apps',
        versions: [version],
        preferredVersion: version,
      })
    })

    it.for([
      { path: '/api/v1', name: 'pods', kind: 'Pod', shortNames: ['po'], categories: ['all'], namespaced: true },
      { path: '/api/v1', name: 'nodes', kind: 'Node', shortNames: ['no'], namespaced: false },
      { path: '/api/v1', name: 'configmaps', kind: 'ConfigMap', shortNames: ['cm'], namespaced: true },
      { path: '/api/v1', name: 'resourcequotas', kind: 'ResourceQuota', shortNames: ['quota'], namespaced: true },
      { path: '/apis/apps/v1', name: 'daemonsets', kind: 'DaemonSet', shortNames: ['ds'], categories: ['all'], namespaced: true },
      { path: '/apis/policy/v1', name: 'poddisruptionbudgets', kind: 'PodDisruptionBudget', shortNames: ['pdb'], namespaced: true },
    ])('describes $name', async ({ path, ...resource }, { api }) => {
      const { body } = await api.get(path)
      expect(body).toMatchObject({ kind: 'APIResourceList', groupVersion: path.replace(/^\/apis?\//, '') })
      const found = resourcesOf(body).find(({ name }) => name === resource.name)
      expect(found).toMatchObject({ ...resource, singularName: resource.kind.toLowerCase() })
      expect(found?.verbs.toSorted()).toEqual(['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'])
    })

    it.for([
      {
        path: '/api/v1',
        names: [
          'pods/status',
          'pods/binding',
          'pods/eviction',
          'nodes/status',
          'namespaces/status',
          'namespaces/finalize',
          'serviceaccounts/token',
        ],
      },
      { path: '/apis/apps/v1', names: ['daemonsets/status'] },
    ])('names the subresources of $path', async ({ path, names }, { api }) => {
      const served = resourcesOf((await api.get(path)).body).map(({ name }) => name)
      expect(served).toEqual(expect.arrayContaining(names))
    })

    it('returns everything in one answer to clients that accept it', async ({ api }) => {
      const accept = 'application/json;v=v2;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList'
      const { headers, body } = await api.get('/apis', { accept })
      expect(headers['content-type']).toContain('g=apidiscovery.k8s.io')
      expect(headers['etag']).toBeDefined()
      expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' })
      const apps = body.items.find(({ metadata }) => metadata.name === 'apps')
      const resources = valueAt(apps, 'versions.0.resources') as readonly { readonly resource: string }[]
      expect(resources.find(({ resource }) => resource === 'daemonsets')).toMatchObject({
        responseKind: { kind: 'DaemonSet' },
        scope: 'Namespaced',
        singularResource: 'daemonset',
        shortNames: ['ds'],
        subresources: [{ subresource: 'status' }],
      })
    })
  })

  describe('OpenAPI v3', () => {
    it('lists a document for each group and version, by its hash', async ({ api }) => {
      const paths = (await api.get('/openapi/v3')).body['paths'] as Readonly<Record<string, { readonly serverRelativeURL: string }>>
      for (const path of ['api/v1', 'apis/apps/v1', 'apis/policy/v1'])
        expect(paths[path]?.serverRelativeURL).toMatch(new RegExp(`^/openapi/v3/${path}\\?hash=[0-9A-F]+$`, 'i'))
    })

    it('describes fields, and the kind of each schema', async ({ api }) => {
      const schemas = valueAt((await api.get('/openapi/v3/apis/apps/v1')).body, 'components.schemas') as Readonly<Record<string, Body>>
      const schema = schemas['io.k8s.api.apps.v1.DaemonSetSpec']
      expect(valueAt(schema, 'properties.minReadySeconds')).toMatchObject({
        type: 'integer',
        format: 'int32',
        description: expect.stringContaining('ready'),
      })
      expect(valueAt(schema, 'required')).toEqual(['selector', 'template'])
      expect(schemas['io.k8s.api.apps.v1.DaemonSet']?.['x-kubernetes-group-version-kind']).toEqual([
        { group: 'apps', kind: 'DaemonSet', version: 'v1' },
      ])
    })

    it('describes the paths of a resource', async ({ api }) => {
      const paths = (await api.get('/openapi/v3/apis/apps/v1')).body['paths'] as Readonly<Record<string, Body>>
      expect(valueAt(paths['/apis/apps/v1/namespaces/{namespace}/daemonsets/{name}'], 'get.x-kubernetes-group-version-kind')).toEqual({
        group: 'apps',
        kind: 'DaemonSet',
        version: 'v1',
      })
    })
  })
}

function resourcesOf(body: Body): readonly Resource[] {
  return body['resources'] as readonly Resource[]
}
