import { resourcePaths } from '@tranche/kube-client'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { events } from './hands.ts'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: 1, pause: {} }, { replicas: '100%' }]
const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }
const tenant = 'tenant'
const evil = { metadata: { labels: { app: 'node-agent' } }, spec: { hostPID: true, containers: [{ name: 'agent', image: 'evil' }] } }

/**
 * Metadata that a tenant can write in their own namespace: an owner reference to the DaemonSet of another namespace, and a finalizer that
 * stops the garbage collector.
 */
function forgedMetadata(daemonSet: DaemonSet, name: string, labels: object): object {
  const { name: owner, uid } = daemonSet.metadata
  return {
    namespace: tenant,
    name,
    labels: { app: 'node-agent', ...labels },
    finalizers: ['example.com/keep'],
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: owner, uid, controller: true }],
  }
}

async function forgeRevision(daemonSet: DaemonSet, hash: string, revision: number, template: object): Promise<void> {
  await stage.client.create(resourcePaths.controllerRevisions, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: forgedMetadata(daemonSet, `node-agent-${hash}`, { 'controller-revision-hash': hash }),
    data: { spec: { template: { ...template, $patch: 'replace' } } },
    revision,
  })
}

async function revisionsOfDemo(): Promise<readonly ControllerRevision[]> {
  return (await stage.client.list<ControllerRevision>(resourcePaths.controllerRevisions, { namespace: 'demo' })).items
}

describe('a tenant of another namespace who names the DaemonSet as an owner (F15)', () => {
  it('does not decide which template an abort puts back', async () => {
    stage = await setStage({ nodes: 6, steps })
    await stage.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: tenant } })
    const [stable] = await revisionsOfDemo()
    const daemonSet = await stage.daemonSet()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await forgeRevision(daemonSet, stable!.metadata.labels!['controller-revision-hash']!, 1, evil)
    stage.program('controller-1').kill()
    await stage.startController('controller-2')
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"abort-1","type":"abort"}' } } })
    await untilReleased(stage, 'v1')
    const { spec } = await stage.daemonSet()
    expect(spec.template.spec).not.toHaveProperty('hostPID')
    expect(await nodesOn(stage, 'v1')).toHaveLength(6)
    expectKept(stage)
  })

  it('starts no release with a newer revision of the same template, and causes no deletion', async () => {
    stage = await setStage({ nodes: 6, steps })
    await stage.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: tenant } })
    await stage.until('the Rollout is Healthy', async () => (await stage.rollout()).status?.phase === 'Healthy')
    const before = (await stage.pods()).map(({ metadata }) => metadata.uid).toSorted()
    const daemonSet = await stage.daemonSet()
    await forgeRevision(daemonSet, 'forged', 999, daemonSet.spec.template)
    stage.program('controller-1').kill()
    await stage.startController('controller-2')
    await stage.pass(120_000)
    expect((await stage.pods()).map(({ metadata }) => metadata.uid).toSorted()).toEqual(before)
    expect((await stage.rollout()).status?.phase).toBe('Healthy')
  })

  it('blocks no release with pods that never end', async () => {
    stage = await setStage({ nodes: 6, steps, maxUnavailable: 2 })
    await stage.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: tenant } })
    const daemonSet = await stage.daemonSet()
    for (const [at, nodeName] of ['node-002', 'node-003'].entries()) {
      const metadata = forgedMetadata(daemonSet, `forged-${at}`, { 'controller-revision-hash': 'forged' })
      await stage.client.create(resourcePaths.pods, {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata },
        spec: { nodeName, containers: [{ name: 'agent', image: 'registry.example/node-agent:v0' }] },
      })
      await stage.client.delete(resourcePaths.pods, { namespace: tenant, name: `forged-${at}` })
    }
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await stage.until('demo runs v2', async () => (await stage.rollout()).status?.phase === 'Healthy')
    expect(await nodesOn(stage, 'v2')).toHaveLength(6)
    expectKept(stage)
  })
})

describe('a user who may write ControllerRevisions of the DaemonSet’s own namespace, and no DaemonSets (F15)', () => {
  it('does not decide which template an abort puts back: the abort is rejected, and a Warning names the revision', async () => {
    stage = await setStage({ nodes: 6, steps })
    const [stable] = await revisionsOfDemo()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await replaceWithForgery(stable!)
    await stage.until('it is noticed', async () => (await stage.rollout()).status?.stableMismatch === stable!.metadata.name)
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"abort-1","type":"abort"}' } } })
    await stage.until('it is answered', async () => (await stage.rollout()).status?.lastAction?.id === 'abort-1')
    expect((await stage.rollout()).status?.lastAction).toMatchObject({
      result: 'Refused',
      reason: expect.stringContaining('does not hold the template that last became stable (status.stableDigest)'),
    })
    expect((await stage.daemonSet()).spec.template.spec).not.toHaveProperty('hostPID')
    const warnings = (await events(stage)).filter(({ reason }) => reason === 'StableRevisionChanged')
    expect(warnings).toMatchObject([{ type: 'Warning', message: expect.stringContaining(`ControllerRevision ${stable!.metadata.name}`) }])
    await stage.setImage('v1')
    await untilNodesOn(stage, 'v1', 6)
    expectKept(stage)
  })
})

/** Replaces a revision with one of the same name, hash and number, but another template. */
async function replaceWithForgery({ metadata, revision, apiVersion, kind }: ControllerRevision): Promise<void> {
  const { name, labels, ownerReferences } = metadata
  await stage.client.delete(resourcePaths.controllerRevisions, { namespace: 'demo', name })
  await stage.client.create(resourcePaths.controllerRevisions, {
    ...{ apiVersion: apiVersion ?? 'apps/v1', kind: kind ?? 'ControllerRevision', revision },
    metadata: { namespace: 'demo', name, labels, ownerReferences },
    data: { spec: { template: { ...evil, $patch: 'replace' } } },
  } as never)
}
