import { describe, expect } from 'vitest'
import { type Body, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap, daemonSet, idlePod, lease } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const asPartial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const asPartialList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

/** Answers in other shapes: tables and metadata alone. */
export function describeShapes(it: ConformanceTest): void {
  describe('a table', () => {
    it.for([
      { title: 'ConfigMaps', path: pathOf.configMaps, object: configMap('a'), columns: ['Name', 'Data', 'Age'], cells: ['a', 1] },
      {
        title: 'pods',
        path: pathOf.pods,
        object: idlePod('a'),
        columns: ['Name', 'Ready', 'Status', 'Restarts', 'Age', '*IP', '*Node', '*Nominated Node', '*Readiness Gates'],
        cells: ['a', '0/1', 'Pending', '0'],
      },
      {
        title: 'DaemonSets',
        path: pathOf.daemonSets,
        object: daemonSet('a'),
        columns: [
          'Name',
          'Desired',
          'Current',
          'Ready',
          'Up-to-date',
          'Available',
          'Node Selector',
          'Age',
          '*Containers',
          '*Images',
          '*Selector',
        ],
        cells: ['a', 0, 0, 0, 0, 0, 'conformance.tranche.dev/node=none'],
      },
      {
        title: 'ControllerRevisions',
        path: pathOf.controllerRevisions,
        object: { metadata: { name: 'a' }, revision: 3, data: {} },
        columns: ['Name', 'Controller', 'Revision', 'Age'],
        cells: ['a', '<none>', 3],
      },
      {
        title: 'Leases',
        path: pathOf.leases,
        object: lease('a', { holderIdentity: 'me' }),
        columns: ['Name', 'Holder', 'Age'],
        cells: ['a', 'me'],
      },
      {
        title: 'Secrets',
        path: pathOf.secrets,
        object: { metadata: { name: 'a' } },
        columns: ['Name', 'Type', 'Data', 'Age'],
        cells: ['a', 'Opaque', 0],
      },
      {
        title: 'budgets',
        path: pathOf.podDisruptionBudgets,
        object: { metadata: { name: 'a' }, spec: { minAvailable: 1, selector: {} } },
        columns: ['Name', 'Min Available', 'Max Unavailable', 'Allowed Disruptions', 'Age'],
        cells: ['a', '1', 'N/A', 0],
      },
      {
        title: 'quotas',
        path: pathOf.resourceQuotas,
        object: { metadata: { name: 'a' }, spec: {} },
        columns: ['Name', 'Request', 'Limit', 'Age'],
        cells: ['a', '', ''],
      },
    ])('of $title has the columns of kubectl', async ({ path, object, columns, cells }, { api, namespace }) => {
      await api.create(path(namespace), object)
      const { body } = await api.get(path(namespace), { query: { fieldSelector: 'metadata.name=a' }, accept: asTable })
      expect(body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: expect.any(String) } })
      expect(columnsOf(body)).toEqual(columns)
      expect((valueAt(body, 'rows.0.cells') as readonly unknown[]).slice(0, cells.length)).toEqual(cells)
    })

    it('of one object has one row', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const { body } = await api.get(pathOf.configMaps(namespace, 'a'), { accept: asTable })
      expect(valueAt(body, 'rows')).toHaveLength(1)
      expect(valueAt(body, 'rows.0.object')).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } })
    })

    it.for([
      { includeObject: 'None', kind: undefined },
      { includeObject: 'Metadata', kind: 'PartialObjectMetadata' },
      { includeObject: 'Object', kind: 'ConfigMap' },
    ])('contains in each row what includeObject=$includeObject requests', async ({ includeObject, kind }, { api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const { body } = await api.get(pathOf.configMaps(namespace, 'a'), { accept: asTable, query: { includeObject } })
      expect(valueAt(body, 'rows.0.object.kind')).toBe(kind)
    })

    it('is sent as plain JSON if that is accepted and comes first', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const first = await api.get(pathOf.configMaps(namespace, 'a'), { accept: `${asTable},application/json` })
      const second = await api.get(pathOf.configMaps(namespace, 'a'), { accept: `application/json,${asTable}` })
      expect([first.body.kind, second.body.kind]).toEqual(['Table', 'ConfigMap'])
    })

    it('is replaced by a status if there is an error', async ({ api, namespace }) => {
      expect(await api.get(pathOf.configMaps(namespace, 'none'), { accept: asTable })).toMatchObject({
        status: 404,
        body: { kind: 'Status' },
      })
    })
  })

  describe('metadata alone', () => {
    it('of one object', async ({ api, namespace }) => {
      const { metadata } = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const { body } = await api.get(pathOf.configMaps(namespace, 'a'), { accept: asPartial })
      expect(body).toMatchObject({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'a', uid: metadata.uid },
      })
      expect(body['data']).toBeUndefined()
    })

    it('of a list', async ({ api, namespace }) => {
      await api.create(pathOf.secrets(namespace), { metadata: { name: 'a' } })
      const { body } = await api.get(pathOf.secrets(namespace), { accept: asPartialList })
      expect(body).toMatchObject({
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        items: [{ metadata: { name: 'a' } }],
      })
    })
  })
}

function columnsOf(body: Body): readonly string[] {
  const columns = body['columnDefinitions'] as readonly { readonly name: string; readonly priority: number }[]
  return columns.map(({ name, priority }) => (priority > 0 ? `*${name}` : name))
}
