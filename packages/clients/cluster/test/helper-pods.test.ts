import { customResourceDefinitions } from '@tranche/api-schema'
import { sleep, type VirtualClock } from '@tranche/clock'
import { type HelperPods, watchHelperPods } from '@tranche/cluster'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { helperManifest, type HelperManifest } from '@tranche/pre-pull'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { silentLogger } from '@tranche/telemetry'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type SimStage, startSimStage } from './sim-stage.ts'

let clock: VirtualClock
let client: KubeClient
let helpers: HelperPods
let asked: string[]
let changes: string[]
let fault: FaultInjector['onRequest']
let release: { readonly name: string; readonly uid: string }
let ending: AbortController
let stage: SimStage
let drive: SimStage['drive']

beforeEach(async () => {
  fault = undefined
  asked = []
  changes = []
  ending = new AbortController()
  const onRequest: FaultInjector['onRequest'] = (call) => {
    if (call.actor === 'executor') asked.push(call.verb)
    return fault?.(call)
  }
  stage = await startSimStage(onRequest, { nodes: 2, watchDelayMs: 500 })
  ;({ clock, drive } = stage)
  client = stage.clientOf('admin')
  await drive(client.create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'demo' } } as never))
  release = await makeOwner()
  helpers = watchHelperPods({ client: stage.clientOf('executor'), clock, log: silentLogger })
  helpers.subscribe(({ node, state }) => changes.push(`${node} ${state.kind}`))
  helpers.start(ending.signal, () => {})
  await drive(sleep(clock, 1_000))
  asked = []
})

afterEach(() => {
  ending.abort(new Error('over'))
  stage.stop()
})

it('a helper pod is known at once to the process that created it, and its state to every watch', async () => {
  await create('node-001')
  expect(helpers.list(release.uid)).toMatchObject([{ node: 'node-001', revision: 'v2', release, state: { kind: 'pulling' } }])
  await drive(sleep(clock, 10_000))
  expect(helpers.list(release.uid)).toMatchObject([{ node: 'node-001', state: { kind: 'pulled' } }])
  expect(changes).toEqual(['node-001 pulling', 'node-001 pulled'])
})

it('a helper pod costs one request to create and one to delete, and is gone at once for the process that deleted it', async () => {
  await create('node-001')
  await drive(sleep(clock, 10_000))
  await drive(helpers.delete(helpers.list()[0]!, ending.signal))
  expect(helpers.list()).toEqual([])
  expect(asked).toEqual(['create', 'delete'])
  await drive(sleep(clock, 10_000))
  expect(helpers.list()).toEqual([])
})

it('a helper pod has just gone for five seconds after the watch has shown it', async () => {
  await create('node-001')
  const [pod] = helpers.list(release.uid)
  await drive(client.delete(resourcePaths.pods, pod!))
  expect(helpers.hasJustGone(pod!)).toBe(false)
  await drive(sleep(clock, 1_000))
  expect(helpers.hasJustGone(pod!)).toBe(true)
  expect(helpers.hasJustGone({ ...pod!, name: 'another' })).toBe(false)
  await drive(sleep(clock, 5_000))
  expect(helpers.hasJustGone(pod!)).toBe(false)
})

it('a helper pod that exists already is no error', async () => {
  expect(await create('node-001')).toEqual({ kind: 'created' })
  expect(await create('node-001')).toEqual({ kind: 'exists' })
  await drive(sleep(clock, 10_000))
  expect(helpers.list()).toHaveLength(1)
})

it('helper pods of other releases are not those of this one', async () => {
  await create('node-001')
  expect(helpers.list('another')).toEqual([])
  expect(helpers.list()).toHaveLength(1)
})

it('a helper pod that the API server rejects for good is an answer with its words', async () => {
  fault = ({ verb }) => (verb === 'create' ? { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'exceeded quota') } : undefined)
  expect(await create('node-001')).toEqual({ kind: 'rejected', message: 'exceeded quota' })
})

it('an error that may pass is thrown', async () => {
  fault = ({ verb }) => (verb === 'create' ? { kind: 'error', error: new ApiStatusError(409, 'Conflict', 'try again') } : undefined)
  await expect(create('node-001')).rejects.toThrow('try again')
  expect(helpers.list()).toEqual([])
})

it('the deletion of a helper pod never deletes another one of its name', async () => {
  await create('node-001')
  const [first] = helpers.list()
  const key = { namespace: 'demo', name: first!.name }
  await drive(client.delete(resourcePaths.pods, key, { gracePeriodSeconds: 0 }))
  await create('node-001')
  await drive(helpers.delete(first!, ending.signal))
  const { metadata } = await drive(client.get<KubeObject>(resourcePaths.pods, key))
  expect(metadata.name).toBe(first!.name)
  expect(metadata.uid).not.toBe(first!.uid)
})

function create(node: string): ReturnType<HelperPods['create']> {
  return drive(helpers.create(manifest(node), ending.signal))
}

function manifest(node: string): HelperManifest {
  const template = { spec: { containers: [{ image: 'registry.example/agent:v2' }] } }
  return helperManifest({ daemonSet: { namespace: 'demo', name: 'agent' }, template, revision: 'v2', release, seenAt: '1', node })!
}

/** The simulator collects pods whose owner does not exist. */
async function makeOwner(): Promise<{ readonly name: string; readonly uid: string }> {
  for (const definition of customResourceDefinitions)
    await drive(client.create(resourcePaths.customResourceDefinitions, definition as never))
  const owner: object = {
    ...{ apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', metadata: { namespace: 'demo', name: 'agent' } },
    spec: { releasePlan: { enableExtraWorkloadForCanary: false } },
  }
  const { metadata } = (await drive(client.create(resourcePaths.batchReleases, owner as never))) as KubeObject
  return { name: metadata.name, uid: metadata.uid }
}
