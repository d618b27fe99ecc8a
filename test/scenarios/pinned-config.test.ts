import type { ReleasePolicy } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { condition, nodesOn, untilPausedAt } from './looks.ts'
import { type ConfigMap, contents, copies, pinnedSteps, setPinnedStage, stalled, untilContents, write } from './pinned-stage.ts'
import type { Stage } from './stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

describe('pinned config', () => {
  it('is released in batches when it changes, comes back with a rollback, and is not released again until it changes', async () => {
    stage = await setPinnedStage()
    await write(stage, '1')
    await untilPausedAt(stage, 1)
    expect(await contents(stage)).toEqual(['1', 'live', 'live', 'live', 'live'])
    await stage.approve()
    await untilContents(stage, ['1', '1', '1', '1', '1'])

    await write(stage, 'bad')
    await untilPausedAt(stage, 1)
    await stage.pass(60_000)
    expect(await contents(stage)).toEqual(['1', '1', '1', '1', 'bad'])

    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
    await untilContents(stage, ['1', '1', '1', '1', '1'])
    await stage.pass(300_000)
    expect(await contents(stage)).toEqual(['1', '1', '1', '1', '1'])

    await write(stage, 'fixed')
    await untilPausedAt(stage, 1)
    expect(await contents(stage)).toEqual(['1', '1', '1', '1', 'fixed'])
    await stage.approve()
    await untilContents(stage, ['fixed', 'fixed', 'fixed', 'fixed', 'fixed'])
  })

  it('leaves the object and the references of the template as the user wrote them', async () => {
    stage = await setPinnedStage()
    await write(stage, '1')
    await untilPausedAt(stage, 1)
    const { immutable, data, metadata } = await stage.client.get<ConfigMap>(resourcePaths.configMaps, {
      namespace: stageKey.namespace,
      name: 'agent',
    })
    expect({ immutable, data, labels: metadata.labels, annotations: metadata.annotations }).toEqual({ data: { level: '1' } })
    const { template } = (await stage.daemonSet()).spec
    expect(template.spec?.containers?.[0]).toMatchObject({ envFrom: [{ configMapRef: { name: 'agent' } }] })
  })

  it('needs no copy that nothing names: at the end those of the history are left', async () => {
    stage = await setPinnedStage()
    for (const value of ['1', '2', '3']) {
      await write(stage, value)
      await untilPausedAt(stage, 1)
      await stage.approve()
      await untilContents(stage, [value, value, value, value, value])
    }
    await stage.patchDaemonSet({ spec: { revisionHistoryLimit: 0 } })
    await stage.until('one copy is left', async () => (await copies(stage)).length === 1, 300_000)
    expect((await copies(stage))[0]).toMatchObject({ immutable: true, data: { level: '3' } })
  })
})

describe('the update strategy, when config is pinned', () => {
  it.each(['none', 'inProcess', 'policy'] as const)(
    'keeps the native controller from replacing pods, also where a user has it between releases (admission: %s)',
    async (admission) => {
      stage = await setPinnedStage({ admission })
      expect((await stage.daemonSet()).spec.updateStrategy?.type).toBe(admission === 'none' ? 'OnDelete' : 'RollingUpdate')
      await write(stage, '1')
      await untilPausedAt(stage, 1)
      await stage.pass(60_000)
      expect(await contents(stage)).toEqual(['1', 'live', 'live', 'live', 'live'])
      await stage.approve()
      await untilContents(stage, ['1', '1', '1', '1', '1'])
      await write(stage, '2')
      await untilPausedAt(stage, 1)
      await stage.pass(60_000)
      expect(await contents(stage)).toEqual(['1', '1', '1', '1', '2'])
    },
  )

  it.each(['none', 'inProcess'] as const)('is OnDelete before the first pinning of a new Rollout (admission: %s)', async (admission) => {
    stage = await setPinnedStage({ admission, config: '1' })
    await untilPausedAt(stage, 1)
    await stage.pass(60_000)
    expect(await contents(stage)).toEqual(['1', 'live', 'live', 'live', 'live'])
  })
})

describe('a Rollout that may not act', () => {
  it('pins nothing of the DaemonSet that another Rollout releases', async () => {
    stage = await setPinnedStage({ policy: {}, config: '1' })
    await stage.until('it is Healthy', async () => (await stage.rollout()).status?.phase === 'Healthy')
    const policy = {
      apiVersion: 'tranche.dev/v1alpha1',
      kind: 'ReleasePolicy',
      metadata: { ...stageKey, name: 'pin' },
      spec: { config: 'Pin' },
    }
    await stage.client.create(resourcePaths.releasePolicies, policy as never)
    const second = rolloutManifest({ steps: pinnedSteps, policy: {} }) as KubeObject
    const annotations = { 'tranche.dev/release-policy': 'pin' }
    await stage.client.create(resourcePaths.rollouts, { ...second, metadata: { ...second.metadata, name: 'second', annotations } } as never)
    await stage.pass(120_000)
    expect((await stage.rollout('second')).status?.conditions).toContainEqual(expect.objectContaining({ reason: 'WorkloadTaken' }))
    expect(await copies(stage)).toEqual([])
    expect((await stage.daemonSet()).spec.template.metadata?.annotations).not.toHaveProperty(['tranche.dev/pinned-config'])
  })
})

describe('config that cannot be pinned', () => {
  it('holds the release where the installation does not allow it, and says what to do', async () => {
    stage = await setPinnedStage({ pinConfig: false })
    await stage.until('it is held', async () => (await stalled(stage))?.reason === 'ConfigUnpinned')
    expect((await stalled(stage))?.message).toContain('start the controller with --pin-config')
    await stage.setImage('v2')
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    const { items } = await stage.client.list<ReleasePolicy>(resourcePaths.releasePolicies, { namespace: stageKey.namespace })
    const usable = items[0]?.status?.conditions?.find(({ type }) => type === 'Usable')
    expect(usable).toMatchObject({ status: 'False', reason: 'PinNotAllowed' })
  })

  it('names an object that does not exist, and what to do, until it exists', async () => {
    stage = await setPinnedStage()
    const said = async (): Promise<string | undefined> => (await condition(stage, 'ConfigUnversioned'))?.message
    expect(await said()).toContain('config: Pin copies ConfigMap agent of namespace demo, which does not exist, once you create it')
    await write(stage, '1')
    await untilPausedAt(stage, 1)
    expect(await said()).toBeUndefined()
  })

  it('holds the release while a right is missing, and continues with it', async () => {
    stage = await setPinnedStage()
    const allow = stage.disturb({
      onRequest: ({ actor, verb, resource }) =>
        actor.startsWith('controller') && verb === 'create' && resource.resource === 'configmaps'
          ? { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'no configmaps') }
          : undefined,
    })
    await write(stage, '1')
    await stage.until('it is held', async () => (await stalled(stage))?.reason === 'ConfigUnpinned')
    await stage.setImage('v2')
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    allow()
    await untilPausedAt(stage, 1, 120_000)
    expect(await contents(stage)).toEqual(['1', 'live', 'live', 'live', 'live'])
  })
})

describe('pinned config, with controllers that are killed', () => {
  it.each([1, 2, 3, 4, 5, 6])('is released with every pod on a copy that exists, by the next controller (story %i)', async (story) => {
    stage = await setPinnedStage({ controllers: ['controller-1', 'controller-2'], seed: story })
    for (const [at, value] of ['1', '2', '1', '3'].entries()) {
      await write(stage, value)
      await stage.pass(37 * story * (at + 1) + 29_900)
      const leader = `controller-${1 + 2 * at}`
      stage.program(at === 0 ? 'controller-1' : leader).kill()
      await stage.startController(`controller-${3 + 2 * at}`)
    }
    await stage.until('a step is paused, or all is over', async () => {
      const { status } = await stage.rollout()
      if (status?.canaryStatus?.currentStepState === 'StepPaused') await stage.approve()
      return JSON.stringify(await contents(stage)) === JSON.stringify(['3', '3', '3', '3', '3']) && status?.phase === 'Healthy'
    })
    expect((await contents(stage)).filter((one) => one.startsWith('missing'))).toEqual([])
  })
})
