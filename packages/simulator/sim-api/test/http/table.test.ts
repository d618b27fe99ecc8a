import type { ApiObject } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'
import { chunksOf, createStub, definition, pod } from './stub-api-server.ts'

const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json'

interface Table {
  readonly kind: string
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[] | null
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object?: { readonly kind: string; readonly spec?: unknown } }[]
}

async function tableOf(path: string, objects: readonly ApiObject[], definitions = [widgets()]): Promise<Table> {
  return (await createStub(objects, definitions).send('GET', path, { headers: { accept } })).json as Table
}

describe('tables of pods', () => {
  const cases: Record<string, { status: object; metadata?: object; cells: readonly unknown[] }> = {
    'show a pod that runs': { status: {}, cells: ['1/1', 'Running', '0'] },
    'show why a container waits': {
      status: {
        phase: 'Pending',
        containerStatuses: [{ ready: false, restartCount: 0, state: { waiting: { reason: 'ImagePullBackOff' } } }],
      },
      cells: ['0/1', 'ImagePullBackOff', '0'],
    },
    'show when a container last ended': {
      status: {
        containerStatuses: [
          {
            ready: false,
            restartCount: 3,
            state: { waiting: { reason: 'CrashLoopBackOff' } },
            lastState: { terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt: '2026-01-01T11:55:00Z' } },
          },
        ],
      },
      cells: ['0/1', 'CrashLoopBackOff', '3 (5m ago)'],
    },
    'show an exit code without a reason': {
      status: { containerStatuses: [{ ready: false, restartCount: 0, state: { terminated: { exitCode: 2 } } }] },
      cells: ['0/1', 'ExitCode:2', '0'],
    },
    'show the reason of the pod': { status: { phase: 'Failed', reason: 'Evicted', containerStatuses: [] }, cells: ['0/1', 'Evicted', '0'] },
    'show a pod that is being deleted': {
      status: {},
      metadata: { deletionTimestamp: '2026-01-01T12:00:00Z' },
      cells: ['1/1', 'Terminating', '0'],
    },
  }

  it.each(Object.entries(cases))('%s', async (_name, { status, metadata, cells }) => {
    const base = pod('a')
    const object = { ...base, metadata: { ...base.metadata, ...metadata }, status: { ...(base['status'] as object), ...status } }
    const table = await tableOf('/api/v1/pods', [object])
    expect(table.rows[0]?.cells.slice(0, 5)).toEqual(['a', ...cells, '60s'])
  })

  it('have wide columns with priority 1', async () => {
    const { columnDefinitions, rows } = await tableOf('/api/v1/pods', [pod('a')])
    expect(columnDefinitions?.map(({ name, priority }) => `${name}:${priority}`).join(' ')).toBe(
      'Name:0 Ready:0 Status:0 Restarts:0 Age:0 IP:1 Node:1 Nominated Node:1 Readiness Gates:1',
    )
    expect(rows[0]?.cells.slice(5)).toEqual(['10.0.0.1', 'n1', '<none>', '<none>'])
  })
})

it('tables of daemon sets show counts, images and selector', async () => {
  const daemonSet = pod('d', {
    kind: 'DaemonSet',
    apiVersion: 'apps/v1',
    spec: {
      selector: { matchLabels: { app: 'x' } },
      template: {
        spec: {
          nodeSelector: { disk: 'ssd' },
          containers: [
            { name: 'a', image: 'a:1' },
            { name: 'b', image: 'b:1' },
          ],
        },
      },
    },
    status: { desiredNumberScheduled: 5, currentNumberScheduled: 4, numberReady: 3, updatedNumberScheduled: 2, numberAvailable: 1 },
  })
  const { rows } = await tableOf('/apis/apps/v1/daemonsets', [daemonSet])
  expect(rows[0]?.cells).toEqual(['d', 5, 4, 3, 2, 1, 'disk=ssd', '60s', 'a,b', 'a:1,b:1', 'app=x'])
})

it('tables of nodes show readiness, cordon, roles and version', async () => {
  const metadata = { ...pod('n').metadata, labels: { 'node-role.kubernetes.io/worker': '' } }
  const status = { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1.36.2' } }
  const { rows } = await tableOf('/api/v1/nodes', [pod('n', { kind: 'Node', metadata, spec: { unschedulable: true }, status })])
  expect(rows[0]?.cells.slice(0, 5)).toEqual(['n', 'Ready,SchedulingDisabled', 'worker', '60s', 'v1.36.2'])
})

describe('ages', () => {
  const cases: Record<string, string> = {
    '2026-01-01T11:58:01Z': '119s',
    '2026-01-01T11:56:40Z': '3m20s',
    '2026-01-01T11:30:00Z': '30m',
    '2026-01-01T08:30:00Z': '3h30m',
    '2025-12-31T00:00:00Z': '36h',
    '2025-12-27T09:00:00Z': '5d3h',
    '2025-12-02T12:00:00Z': '30d',
    '2023-01-01T12:00:00Z': '3y1d',
    '2026-01-01T12:00:30Z': '<invalid>',
  }

  it.each(Object.entries(cases))('created %s is %s', async (creationTimestamp, text) => {
    const { rows } = await tableOf('/api/v1/pods', [pod('a', { metadata: { ...pod('a').metadata, creationTimestamp } })])
    expect(rows[0]?.cells[4]).toBe(text)
  })
})

describe('tables of custom resources', () => {
  const widget = pod('w', {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    spec: { size: 3, 'a.b': 'dotted', sizes: [1, 2] },
    status: { conditions: [{ type: 'Ready', status: 'False' }], at: '2026-01-01T11:59:30Z' },
  })

  it('show the values of the printer columns', async () => {
    const { columnDefinitions, rows } = await tableOf('/apis/example.com/v1/widgets', [widget])
    expect(columnDefinitions?.map(({ name, priority }) => `${name}:${priority}`).join(' ')).toBe(
      'Name:0 Size:0 Ready:0 Since:0 Dotted:0 Last:1 First:1',
    )
    expect(rows[0]?.cells).toEqual(['w', 3, 'False', '30s', 'dotted', 2, '1'])
  })

  it('show nothing for missing values', async () => {
    const { rows } = await tableOf('/apis/example.com/v1/widgets', [pod('w', { spec: {}, status: {} })])
    expect(rows[0]?.cells).toEqual(['w', null, null, null, null, null, null])
  })
})

describe('rows carry', () => {
  it.each([
    ['', 'PartialObjectMetadata'],
    ['?includeObject=Object', 'Pod'],
    ['?includeObject=None', undefined],
  ])('for %s: %s', async (query, kind) => {
    expect((await tableOf(`/api/v1/pods${query}`, [pod('a')])).rows[0]?.object?.kind).toBe(kind)
  })
})

it('a watch as a table sends its columns once', async () => {
  const stub = createStub()
  const headers = { accept, authorization: 'Bearer secret' }
  const answer = await stub.front.handle({ method: 'GET', path: '/api/v1/pods?watch=1', headers }, new AbortController().signal)
  stub.watches[0]?.sink.frame({ type: 'ADDED', object: pod('a') })
  stub.watches[0]?.sink.frame({ type: 'MODIFIED', object: pod('a') })
  stub.front.endWatches()
  const lines = (await chunksOf(answer.body)).join('').trimEnd().split('\n')
  const tables = lines.map((line) => (JSON.parse(line) as { readonly object: Table }).object)
  expect(tables.map((table) => [table.kind, table.columnDefinitions === null, table.rows.length])).toEqual([
    ['Table', false, 1],
    ['Table', true, 1],
  ])
})

it('metadata can be requested alone', async () => {
  const headers = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }
  const { json } = await createStub([pod('a')]).send('GET', '/api/v1/pods', { headers })
  expect(json).toMatchObject({ kind: 'PartialObjectMetadataList', items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'a' } }] })
  expect(JSON.stringify(json)).not.toContain('spec')
})

function widgets(): ReturnType<typeof definition> {
  const additionalPrinterColumns = [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Since', type: 'date', jsonPath: '.status.at' },
    { name: 'Dotted', type: 'string', jsonPath: '.spec.a\\.b' },
    { name: 'Last', type: 'integer', jsonPath: '.spec.sizes[-1]', priority: 1 },
    { name: 'First', type: 'string', jsonPath: '.spec.sizes[*]', priority: 1 },
  ]
  const customResourceDefinition = pod('widgets.example.com', { spec: { versions: [{ name: 'v1', additionalPrinterColumns }] } })
  return definition('example.com', 'Widget', 'widgets', { customResourceDefinition })
}
