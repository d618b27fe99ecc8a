import { resourcePaths } from '@tranche/kube-client'
import type { KubeObject, Pod } from '@tranche/kube-types'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { nodesOn, untilPausedAt } from './looks.ts'
import { setStage, type Stage, type StageOptions } from './stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

interface ConfigMap extends KubeObject {
  readonly immutable?: boolean
  readonly data?: Readonly<Record<string, string>>
}

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '20%', pause: {} }, { replicas: '100%' }]

describe('pinned config', () => {
  it('is released in batches when it changes, comes back with a rollback, and is not released again until it changes', async () => {
    await begin()
    await write('1')
    await untilPausedAt(stage, 1)
    expect(await contents()).toEqual(['1', 'live', 'live', 'live', 'live'])
    await stage.approve()
    await untilContents(['1', '1', '1', '1', '1'])

    await write('bad')
    await untilPausedAt(stage, 1)
    await stage.pass(60_000)
    expect(await contents()).toEqual(['1', '1', '1', '1', 'bad'])

    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
    await untilContents(['1', '1', '1', '1', '1'])
    await stage.pass(300_000)
    expect(await contents()).toEqual(['1', '1', '1', '1', '1'])

    await write('fixed')
    await untilPausedAt(stage, 1)
    expect(await contents()).toEqual(['1', '1', '1', '1', 'fixed'])
    await stage.approve()
    await untilContents(['fixed', 'fixed', 'fixed', 'fixed', 'fixed'])
  })

  it('leaves the object and the references of the template as the user wrote them', async () => {
    await begin()
    await write('1')
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
    await begin()
    for (const value of ['1', '2', '3']) {
      await write(value)
      await untilPausedAt(stage, 1)
      await stage.approve()
      await untilContents([value, value, value, value, value])
    }
    await stage.patchDaemonSet({ spec: { revisionHistoryLimit: 0 } })
    await stage.until('one copy is left', async () => (await copies()).length === 1, 300_000)
    expect((await copies())[0]).toMatchObject({ immutable: true, data: { level: '3' } })
  })
})

describe('config that cannot be pinned', () => {
  it('holds the release where the installation does not allow it, and says what to do', async () => {
    await begin({ pinConfig: false })
    await stage.until('it is held', async () => (await stalled())?.reason === 'ConfigUnpinned')
    expect((await stalled())?.message).toContain('start the controller with --pin-config')
    await stage.setImage('v2')
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
  })

  it('holds the release while a right is missing, and continues with it', async () => {
    await begin()
    const allow = stage.disturb({
      onRequest: ({ actor, verb, resource }) =>
        actor.startsWith('controller') && verb === 'create' && resource.resource === 'configmaps'
          ? { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'no configmaps') }
          : undefined,
    })
    await write('1')
    await stage.until('it is held', async () => (await stalled())?.reason === 'ConfigUnpinned')
    await stage.setImage('v2')
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    allow()
    await untilPausedAt(stage, 1, 120_000)
    expect(await contents()).toEqual(['1', 'live', 'live', 'live', 'live'])
  })

  it('holds the release while another object has the name of a copy, and continues when that is gone', async () => {
    await begin()
    await write('1')
    await untilPausedAt(stage, 1)
    const [copy] = await copies()
    const key = { namespace: stageKey.namespace, name: copy?.metadata.name ?? '' }
    await stage.client.delete(resourcePaths.configMaps, key)
    await stage.client.create(resourcePaths.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key } as unknown as KubeObject)
    await stage.until('it is held', async () => (await stalled())?.reason === 'ConfigUnpinned', 60_000)
    expect((await stalled())?.message).toContain(`ConfigMap ${key.name} exists, but is no copy of ConfigMap agent`)
    await stage.client.delete(resourcePaths.configMaps, key)
    await stage.until('it is not held', async () => (await stalled())?.status === 'False', 60_000)
    await stage.approve()
    await untilContents(['1', '1', '1', '1', '1'])
  })
})

describe('pinned config, with controllers that are killed', () => {
  it.each([1, 2, 3, 4, 5, 6])('is released with every pod on a copy that exists, by the next controller (story %i)', async (story) => {
    await begin({ controllers: ['controller-1', 'controller-2'], seed: story })
    for (const [at, value] of ['1', '2', '1', '3'].entries()) {
      await write(value)
      await stage.pass(37 * story * (at + 1) + 29_900)
      const leader = `controller-${1 + 2 * at}`
      stage.program(at === 0 ? 'controller-1' : leader).kill()
      await stage.startController(`controller-${3 + 2 * at}`)
    }
    await stage.until('a step is paused, or all is over', async () => {
      const { status } = await stage.rollout()
      if (status?.canaryStatus?.currentStepState === 'StepPaused') await stage.approve()
      return JSON.stringify(await contents()) === JSON.stringify(['3', '3', '3', '3', '3']) && status?.phase === 'Healthy'
    })
    expect((await contents()).filter((one) => one.startsWith('missing'))).toEqual([])
  })
})

async function stalled(): Promise<{ readonly status: string; readonly reason: string; readonly message: string } | undefined> {
  return (await stage.rollout()).status?.conditions?.find(({ type }) => type === 'Stalled')
}

/** A DaemonSet whose pods read the live object, and a Rollout. */
async function begin(options: StageOptions = {}): Promise<void> {
  const policy = { config: 'Pin' } as const
  stage = await setStage({ nodes: 5, maxUnavailable: 2, configMaps: ['agent'], pinConfig: true, policy, withRollout: false, ...options })
  await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps, policy }) as KubeObject)
  const isSettled = async (): Promise<boolean> => {
    const { status } = await stage.rollout()
    return status?.phase === 'Healthy' || (await stalled())?.status === 'True'
  }
  await stage.until('it is Healthy or stalled', isSettled)
}

async function write(level: string): Promise<void> {
  const key = { namespace: stageKey.namespace, name: 'agent' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: { level } } as unknown as KubeObject
  await stage.client
    .create(resourcePaths.configMaps, object)
    .catch(() => stage.client.patch(resourcePaths.configMaps, key, { type: 'merge', body: { data: { level } } }))
}

async function copies(): Promise<readonly ConfigMap[]> {
  const { items } = await stage.client.list<ConfigMap>(resourcePaths.configMaps, {
    namespace: stageKey.namespace,
    labelSelector: 'tranche.dev/config-of',
  })
  return items
}

/** What each standing pod reads, in order: the content of an immutable copy, or `live`. */
async function contents(): Promise<readonly string[]> {
  const byName = new Map(
    (await copies()).map(({ metadata, immutable, data }) => [metadata.name, immutable === true ? data?.['level'] : undefined]),
  )
  const pods = (await stage.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return pods.map((pod) => (nameIn(pod) === 'agent' ? 'live' : (byName.get(nameIn(pod)) ?? `missing ${nameIn(pod)}`))).toSorted()
}

async function untilContents(wanted: readonly string[]): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    JSON.stringify(await contents()) === JSON.stringify(wanted) && (await stage.rollout()).status?.phase === 'Healthy'
  await stage.until(`pods read ${wanted.join(', ')}`, isThere)
}

function nameIn({ spec }: Pod): string {
  const { containers } = spec as unknown as {
    readonly containers: readonly { readonly envFrom?: readonly { readonly configMapRef?: { readonly name: string } }[] }[]
  }
  return containers[0]?.envFrom?.[0]?.configMapRef?.name ?? ''
}
