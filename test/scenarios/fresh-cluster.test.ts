import type { BatchRelease, Rollout } from '@tranche/api-schema'
import { type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, KubeObject } from '@tranche/kube-types'
import { afterEach, describe, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, runs, untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

describe('a backup of a release in progress, restored into a fresh cluster before Tranche starts', () => {
  it('deletes nothing: the nodes of the cluster started with the new version, and the release ends there (G4)', async () => {
    await restoreAll(await backUp(), { withStatus: true })
    const { status } = await stage.rollout()
    expect([status?.phase, status?.canaryStatus?.currentStepState]).toEqual(['Progressing', 'StepPaused'])
    await startPrograms()
    await stage.pass(60_000)
    expect(status?.canaryStatus?.currentStepIndex).toBe((await stage.rollout()).status?.canaryStatus?.currentStepIndex)
    await stage.approve()
    await untilReleased(stage, 'v3')
    expect(deletions(stage)).toBe(0)
    expectGivenBack(await stage.daemonSet())
  })

  it('still holds the blocked revision if its status was restored (G12)', async () => {
    await restoreAll(await backUp(), { withStatus: true })
    await startPrograms()
    await stage.approve()
    await untilReleased(stage, 'v3')
    await stage.setImage('v2')
    await stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
    await stage.pass(60_000)
    expect([deletions(stage), await nodesOn(stage, 'v2')]).toEqual([0, []])
  })

  it('is Healthy at once without its status, and still holds the blocked revision until a retry (G1, G12)', async () => {
    await restoreAll(await backUp(), { withStatus: false })
    await startPrograms()
    await untilReleased(stage, 'v3')
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(0)
    await stage.setImage('v2')
    await stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
    await stage.pass(60_000)
    expect([deletions(stage), await nodesOn(stage, 'v2')]).toEqual([0, []])
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"retry-1","type":"retry"}' } } })
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(2)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectGivenBack(await stage.daemonSet())
    expectKept(stage)
  })
})

describe('a Rollout that was created after the template had changed, while no controller ran', () => {
  it('goes through its steps although most nodes have come back on the template meanwhile (G3)', async () => {
    stage = await setStage({ withRollout: false, controllers: [], executors: [], strategyType: 'OnDelete' })
    await stage.setImage('v2')
    await create(resourcePaths.rollouts, rolloutManifest({}) as Rollout)
    await stage.pass(2_000)
    for (const { metadata } of (await stage.pods()).slice(0, 7))
      await stage.client.delete(resourcePaths.pods, { namespace: stageKey.namespace, name: metadata.name })
    await stage.until('seven nodes are back', async () => (await nodesOn(stage, 'v2')).length === 7)
    await startPrograms()
    await untilPausedAt(stage, 1)
    await stage.pass(60_000)
    expect([deletions(stage), (await nodesOn(stage, 'v2')).length]).toEqual([0, 7])
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

interface Backup {
  readonly daemonSet: DaemonSet
  readonly rollout: Rollout
  readonly release: BatchRelease
}

/** Backs up a release whose first step waits for an approval, after another version was rolled back. */
async function backUp(): Promise<Backup> {
  stage = await setStage()
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const action = JSON.stringify({ id: 'stop', type: 'abort', expectedStep: 1 })
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': action } } })
  await untilReleased(stage, 'v1')
  await stage.setImage('v3')
  await untilPausedAt(stage, 1)
  const saved = { daemonSet: await stage.daemonSet(), rollout: await stage.rollout(), release: (await stage.release())! }
  await stage.end()
  return saved
}

/** Restores into another cluster, which never had the DaemonSet or Tranche's objects. */
async function restoreAll({ daemonSet, rollout }: Backup, { withStatus }: { readonly withStatus: boolean }): Promise<void> {
  stage = await setStage({ withRollout: false, controllers: [], executors: [] })
  await drive(stage.clock, stage.client.delete(resourcePaths.daemonSets, stageKey))
  await stage.until('the cluster is empty', async () => (await stage.pods()).length === 0)
  await create(resourcePaths.daemonSets, daemonSet)
  await create(resourcePaths.rollouts, rollout)
  const { status } = rollout
  if (withStatus) await stage.client.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body: { status } }, { subresource: 'status' })
  await stage.until('every node runs v3', async () => {
    const pods = await stage.pods()
    return pods.length === 10 && pods.every((pod) => runs(pod, 'v3') && pod.status?.phase === 'Running')
  })
}

/** Creates the object without the fields that the server sets. */
async function create(resource: ResourcePath, { status: _asItWas, ...object }: KubeObject & { readonly status?: unknown }): Promise<void> {
  const { namespace, name, labels, annotations, finalizers } = object.metadata as KubeObject['metadata'] & { readonly finalizers?: unknown }
  await stage.client.create(resource, { ...object, metadata: { namespace, name, labels, annotations, finalizers } } as never)
}

async function startPrograms(): Promise<void> {
  await stage.startController('controller-9')
  await stage.startExecutor('executor-9')
}

/** Expects only the keys of the binding on the DaemonSet. */
function expectGivenBack({ metadata, spec }: DaemonSet): void {
  expect(spec.updateStrategy?.type).toBe('OnDelete')
  const ours = Object.keys(metadata.annotations ?? {}).filter((key) => /kruise|tranche\.dev/.test(key))
  expect(ours.toSorted()).toEqual(['rollouts.kruise.io/daemonset-original-update-strategy', 'tranche.dev/rollout'])
}
