import { customResourceDefinitions } from '@tranche/api-schema'
import { createNodeDrainer, removeLeftCondition, uncordonNode } from '@tranche/cluster'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { Condition, Node } from '@tranche/kube-types'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type SimStage, startSimStage } from './sim-stage.ts'

const signal = new AbortController().signal
const agent = { metadata: { namespace: 'demo', uid: 'ds-1' }, spec: { selector: { matchLabels: { app: 'agent' } } } }
const permit = { node: 'node-001', podUid: 'p1', podResourceVersion: '7' }
const own = { status: 'True', reason: 'TrancheDrain', message: 'BatchRelease demo/node-agent drains the node' }

let stage: SimStage
let client: KubeClient
let releaseUid: string
let asked: string[]
let failures: string[]
let fault: FaultInjector['onRequest']
let touches = 0

beforeEach(async () => {
  fault = undefined
  failures = []
  stage = await startSimStage((call) => {
    const { verb, resource, subresource } = call
    if (call.actor !== 'drainer') return undefined
    asked.push(`${verb} ${resource.resource}${subresource === undefined ? '' : `/${subresource}`}`)
    return fault?.(call)
  })
  client = stage.clientOf('admin')
  for (const definition of customResourceDefinitions)
    await drive(client.create(resourcePaths.customResourceDefinitions, definition as never))
  await drive(client.create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'demo' } } as never))
  const metadata = { namespace: 'demo', name: 'node-agent' }
  const spec = { releasePlan: { enableExtraWorkloadForCanary: false } }
  const release = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', metadata, spec }
  releaseUid = (await drive(client.create(resourcePaths.batchReleases, release))).metadata.uid
  const flight = {
    ...{ workloadUid: 'ds-1', epoch: 1, seq: 1, state: 'open', holds: [], generation: 1, revision: 'a' },
    ...{ size: 1, partition: 0, limit: 1, watermark: '1', permits: [permit] },
  }
  const body = { status: { flight } }
  await drive(client.patch(resourcePaths.batchReleases, metadata, { type: 'merge', body }, { subresource: 'status' }))
  asked = []
})

afterEach(() => stage.stop())

describe('a drain with conditions', () => {
  it('sets the condition after the mark, with one request, and removes it before the mark, with one more', async () => {
    expect(await drain()).toMatchObject({ kind: 'ready' })
    expect(await condition()).toMatchObject(own)
    expect(asked).toEqual(['get nodes', 'get batchreleases', 'patch nodes', 'patch nodes/status'])
    asked = []
    await drain()
    expect(asked).toEqual(['get nodes'])
    asked = []
    expect(await uncordon()).toBe(true)
    expect(asked).toEqual(['get nodes', 'get batchreleases', 'patch nodes/status', 'patch nodes'])
    await expectFree()
  })

  it('sets none without a cordon, for there is no mark', async () => {
    await drain({ rules: { cordon: false } })
    expect(await condition()).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('sets none where the installation does not allow it', async () => {
    await drain({ sets: false })
    expect(await condition()).toBeUndefined()
    expect(asked).toEqual(['get nodes', 'get batchreleases', 'patch nodes'])
  })

  it.each([{ reason: 'NodeMaintenance', status: 'True' }, { status: 'True' }, { reason: 'NodeMaintenance', status: 'False' }])(
    'leaves the condition of another program as it is: %j',
    async (fields) => {
      await drive(setCondition(fields))
      const before = await condition()
      await drain()
      await uncordon()
      expect(asked).not.toContain('patch nodes/status')
      expect(await condition()).toEqual(before)
    },
  )

  it('leaves the condition that another program takes over in mid-drain', async () => {
    await drain()
    await drive(setCondition({ status: 'True', reason: 'NodeMaintenance', message: 'fans' }))
    await drain()
    await uncordon()
    expect(await condition()).toMatchObject({ reason: 'NodeMaintenance', message: 'fans' })
  })

  it('reads the node once more where a kubelet has changed it, and leaves what another program has set meanwhile', async () => {
    beforeStatusWrites(1, () => touch())
    await drain()
    expect(await condition()).toMatchObject(own)
    await uncordon()
    beforeStatusWrites(1, () => setCondition({ status: 'True', reason: 'NodeMaintenance' }))
    await drain()
    expect(await condition()).toMatchObject({ reason: 'NodeMaintenance' })
    expect(failures).toEqual([])
  })

  it('continues where every write loses a race, and tries again with the next look', async () => {
    beforeStatusWrites(2, () => touch())
    expect(await drain()).toMatchObject({ kind: 'ready' })
    expect(asked.filter((one) => one === 'patch nodes/status')).toHaveLength(2)
    expect(await condition()).toBeUndefined()
    await drain()
    expect(await condition()).toMatchObject(own)
  })

  it('sets none once the mark has been removed between its reading and its write', async () => {
    beforeStatusWrites(1, async () => {
      await uncordonNode(client, 'node-001', [permit], signal)
    })
    await drain()
    await expectFree()
  })

  it.each([403, 500, 503])('continues where the API server answers %i, and reports it', async (code) => {
    failStatusWrites(code)
    expect(await drain()).toMatchObject({ kind: 'ready' })
    expect(failures).toEqual([expect.stringMatching(/^node-001: .*no status for you$/)])
    fault = undefined
    await drain()
    expect(await condition()).toMatchObject(own)
  })
})

describe('the undo of a drain', () => {
  it.each([403, 500])('makes the node schedulable where its condition cannot be removed (%i); a later sweep removes it', async (code) => {
    await drain()
    failStatusWrites(code)
    expect(await uncordon()).toBe(true)
    const { metadata, spec } = await readNode()
    expect(spec?.unschedulable).toBeUndefined()
    expect(metadata.annotations?.['tranche.dev/cordon']).toBeUndefined()
    expect(await condition()).toMatchObject(own)
    fault = undefined
    await drive(removeLeftCondition(stage.clientOf('drainer'), 'node-001', signal))
    await expectFree()
  })

  it('removes both where the node changes between its reading and its writes', async () => {
    await drain()
    beforeStatusWrites(1, () => touch())
    expect(await uncordon()).toBe(true)
    await expectFree()
  })

  it('leaves the condition while its permit is in the record', async () => {
    await drain()
    expect(await drive(uncordonNode(client, 'node-001', [], signal))).toBe(false)
    expect(await condition()).toMatchObject(own)
  })

  it.each<[sentence: string, prepare: () => Promise<unknown>]>([
    ['with a mark', () => drain()],
    ['with a condition of another program', () => drive(setCondition({ status: 'True', reason: 'NodeMaintenance' }))],
    ['that is gone', () => drive(client.delete(resourcePaths.nodes, { namespace: '', name: 'node-001' }))],
  ])('is not swept on a node %s', async (_sentence, prepare) => {
    await prepare()
    asked = []
    await drive(removeLeftCondition(stage.clientOf('drainer'), 'node-001', signal))
    expect(asked).toEqual(['get nodes'])
  })
})

interface Drain {
  readonly rules?: { readonly cordon?: boolean }
  readonly sets?: boolean
}

function drain({ rules = {}, sets = true }: Drain = {}): Promise<unknown> {
  const onFailure = (node: string, error: unknown): void => void failures.push(`${node}: ${(error as Error).message}`)
  const drainer = createNodeDrainer(stage.clientOf('drainer'), stage.clock, sets ? { onFailure } : undefined)
  const drained = { release: { namespace: 'demo', name: 'node-agent', uid: releaseUid }, permit }
  return drive(drainer.drain({ node: 'node-001', agent, rules, drained }, signal))
}

function uncordon(): Promise<boolean> {
  return drive(uncordonNode(stage.clientOf('drainer'), 'node-001', [permit], signal))
}

/** Acts before that number of writes of the status. */
function beforeStatusWrites(count: number, act: () => Promise<unknown>): void {
  let left = count
  fault = ({ subresource }) => {
    if (subresource !== 'status' || left === 0) return undefined
    left--
    void act()
    return { kind: 'delay', ms: 50, when: 'before' }
  }
}

function failStatusWrites(code: number): void {
  fault = ({ subresource }) =>
    subresource === 'status' ? { kind: 'error', error: new ApiStatusError(code, 'Forbidden', 'no status for you') } : undefined
}

/** As by a kubelet. */
function touch(): Promise<unknown> {
  const body = { metadata: { annotations: { touched: String(++touches) } } }
  return client.patch(resourcePaths.nodes, { namespace: '', name: 'node-001' }, { type: 'merge', body })
}

function setCondition(fields: Partial<Condition>): Promise<unknown> {
  const body = { status: { conditions: [{ $patch: 'delete', type: 'DrainInProgress' }] } }
  const set = { status: { conditions: [{ type: 'DrainInProgress', ...fields }] } }
  const patch = (one: object): Promise<unknown> =>
    client.patch(resourcePaths.nodes, { namespace: '', name: 'node-001' }, { type: 'strategic', body: one }, { subresource: 'status' })
  return patch(body).then(() => patch(set))
}

async function condition(): Promise<Condition | undefined> {
  return (await readNode()).status?.conditions?.find(({ type }) => type === 'DrainInProgress')
}

async function expectFree(): Promise<void> {
  const { metadata, spec, status } = await readNode()
  expect(spec?.unschedulable).toBeUndefined()
  expect(metadata.annotations?.['tranche.dev/cordon']).toBeUndefined()
  expect(status?.conditions?.map(({ type }) => type)).toEqual(['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'])
}

function readNode(): Promise<Node> {
  return drive(client.get<Node>(resourcePaths.nodes, { namespace: '', name: 'node-001' }))
}

function drive<T>(promise: Promise<T>): Promise<T> {
  return stage.drive(promise)
}
