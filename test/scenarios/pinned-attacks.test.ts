import { copyName, pinsOf } from '@tranche/config'
import { resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { afterEach, describe, expect, it } from 'vitest'
import { untilPausedAt } from './looks.ts'
import { type ConfigMap, contents, copies, ignoreConfig, setPinnedStage, stalled, untilContents, write } from './pinned-stage.ts'
import { createRequestLog } from './requests.ts'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const { namespace } = stageKey

describe('a user who may create ConfigMaps, and delete them', () => {
  it('cannot bring content into pods by an object with the name of a copy: another copy is released in batches', async () => {
    await atRest('1')
    const [copy] = await copies(stage)
    await replace(copy!, { metadata: { namespace, name: copy!.metadata.name }, data: { level: 'evil' } })
    await untilPausedAt(stage, 1)
    expect((await stalled(stage))?.status).toBe('False')
    expect(pinnedName(await stage.daemonSet())).not.toBe(copy?.metadata.name)
    await stage.approve()
    await untilContents(stage, ['1', '1', '1', '1', '1'])
  })

  it('cannot do so either by an object that also has the labels, the annotations and the owner of a copy', async () => {
    stage = await setPinnedStage()
    await write(stage, '1')
    await untilPausedAt(stage, 1)
    const [copy] = await copies(stage)
    const { resourceVersion: _version, uid: _uid, ...metadata } = copy!.metadata
    await replace(copy!, { ...copy, metadata, data: { level: 'evil' } })
    await stage.patchDaemonSet({ spec: { template: { metadata: { annotations: { 'tranche.dev/pinned-config': null } } } } })
    const isRenamed = async (): Promise<boolean> => ![undefined, metadata.name].includes(pinnedName(await stage.daemonSet()))
    await stage.until('another copy is named', isRenamed, 60_000)
    expect((await stalled(stage))?.status).toBe('False')
    expect((await contents(stage)).filter((one) => one === 'evil').length, 'the pod that named the copy before').toBeLessThanOrEqual(1)
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilContents(stage, ['1', '1', '1', '1', '1'])
  })

  it('cannot hold a release by an object that looks like a copy, holds the content, and has another name', async () => {
    await atRest('1')
    const [copy] = await copies(stage)
    const { resourceVersion: _version, uid: _uid, ...metadata } = copy!.metadata
    const forged = { ...copy, metadata: { ...metadata, name: 'agent-forged' }, data: { level: '2' } }
    await stage.client.create(resourcePaths.configMaps, forged as never)
    await write(stage, '2')
    await untilPausedAt(stage, 1)
    expect((await stalled(stage))?.status).toBe('False')
    expect(pinnedName(await stage.daemonSet())).not.toBe('agent-forged')
  })

  it('cannot make each change cost more by objects that have the names of copies', async () => {
    const requests = createRequestLog()
    await atRest('1', { tap: requests.tap })
    const { uid } = (await stage.daemonSet()).metadata
    for (const level of ['2', '3', '4', '5', '6', '7']) {
      const source = { kind: 'ConfigMap', name: 'agent', uid: '', resourceVersion: '', data: { level } } as const
      const metadata = { namespace, name: copyName(source, { uid }) }
      await stage.client.create(resourcePaths.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata } as never)
      await write(stage, level)
      await stage.pass(30_000)
    }
    await stage.approve()
    await untilContents(stage, Array<string>(5).fill('7'))
    await stage.pass(60_000)
    requests.reset()
    await write(stage, '8')
    await untilPausedAt(stage, 1)
    await stage.pass(60_000)
    const ofConfig = requests.sent().filter(({ what }) => what.includes('configmaps') && !what.startsWith('WATCH'))
    // Those of any change, and one for the present copy in each of the readings, because its name is no digest of its content alone.
    expect(ofConfig.length).toBeLessThanOrEqual(18)
  })

  it('cannot stop a release by a false copy without room for a mark', async () => {
    const requests = createRequestLog()
    await atRest('1', { tap: requests.tap })
    await stage.client.create(resourcePaths.configMaps, await unmarkable())
    await stage.pass(5_000)
    requests.reset()
    await stage.pass(60_000)
    expect(requests.sent().filter(({ what }) => what.includes('configmaps') && !what.startsWith('WATCH')).length).toBeLessThan(20)
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    expect((await stalled(stage))?.status).toBe('False')
  })

  it('cannot keep a pass busy by ever new false copies', async () => {
    const requests = createRequestLog()
    await atRest('1', { tap: requests.tap })
    const { metadata, ...forged } = await unmarkable()
    const small = { ...metadata, annotations: { ...metadata.annotations, full: '' } }
    const isPaused = async (): Promise<boolean> => (await stage.rollout()).status?.currentStepState === 'StepPaused'
    requests.reset()
    for (let tenth = 0; tenth < 600 && !(await isPaused()); tenth++) {
      if (tenth === 300) expect(requests.sent().filter(({ what }) => /^PATCH.*daemonsets/.test(what)).length).toBeLessThan(4)
      if (tenth === 300) await stage.setImage('v2')
      await stage.client.create(resourcePaths.configMaps, { ...forged, metadata: { ...small, name: `agent-forged-${tenth}` } } as never)
      await stage.pass(100)
    }
    expect(await isPaused()).toBe(true)
  })

  it('cannot fill the memory of the controller, or stop a release, by many objects with the label of copies', async () => {
    const lists: string[] = []
    await atRest('1', {
      tap: (_identity, exchange) => (request, signal) => {
        const isList = request.path.includes('/configmaps?') && request.method === 'GET' && !request.path.includes('watch=')
        if (isList && request.path.includes('labelSelector')) lists.push(`${request.headers?.['accept']} ${request.path}`)
        return exchange(request, signal)
      },
    })
    const { uid } = (await stage.daemonSet()).metadata
    for (let at = 0; at < 600; at++) {
      const metadata = { namespace, name: `a-${at}`, labels: { 'tranche.dev/config-of': uid } }
      await stage.client.create(resourcePaths.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'x' } } as never)
    }
    await stage.pass(30_000)
    lists.length = 0
    await write(stage, '2')
    await untilPausedAt(stage, 1)
    expect(lists.length).toBeGreaterThan(0)
    expect(lists.filter((list) => !list.includes('PartialObjectMetadataList') || !/limit=50\b/.test(list))).toEqual([])
    await stage.approve()
    await untilContents(stage, ['2', '2', '2', '2', '2'])
  })
})

describe('a stop, while the API server does not answer requests for ConfigMaps', () => {
  const isStopped = async (): Promise<boolean> => (await stage.release())?.status?.flight?.state === 'stopped'
  // An abort may be stopped and on its way back before anyone looks.
  const isBack = async (): Promise<boolean> => (await isStopped()) || (await stage.rollout()).status?.rollbackFrom !== undefined

  it.each<[sentence: string, stop: () => Promise<unknown>, isInForce: () => Promise<boolean>]>([
    ['a pause', () => stage.patchRollout({ spec: { strategy: { paused: true } } }), isStopped],
    [
      'an abort',
      () => stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } }),
      isBack,
    ],
  ])('does not wait: %s is in force at once', async (_sentence, stop, isInForce) => {
    await atRest('1')
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    ignoreConfig(stage)
    await write(stage, '2')
    await stage.pass(500)
    await stop()
    await stage.until('it is in force', isInForce, 4_000)
  })

  it('does not keep an abort from putting the template back', async () => {
    await atRest('1')
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    ignoreConfig(stage)
    await write(stage, '2')
    await stage.pass(500)
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
    const isBack = async (): Promise<boolean> => JSON.stringify((await stage.daemonSet()).spec.template).includes(':v1')
    // A request for config fails after 15 seconds.
    await stage.until('the template is back', isBack, 13_000)
  })
})

async function replace(copy: ConfigMap, by: object): Promise<void> {
  await stage.client.delete(resourcePaths.configMaps, { namespace, name: copy.metadata.name })
  await stage.client.create(resourcePaths.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', ...by } as unknown as KubeObject as never)
}

/** A copy that nothing names, whose annotations are as long as the API server allows. */
async function unmarkable(): Promise<KubeObject> {
  const [copy] = await copies(stage)
  const { resourceVersion: _version, uid: _uid, annotations = {}, ...metadata } = copy!.metadata
  const used = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  const full = { ...annotations, full: 'x'.repeat(256 * 1024 - used - 'full'.length) }
  const forged = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, name: 'agent-forged', annotations: full } }
  return forged as unknown as KubeObject
}

function pinnedName({ spec }: { readonly spec: { readonly template: unknown } }): string | undefined {
  return pinsOf(spec.template).get('ConfigMap/agent')
}

/** Every pod reads a copy with this content. */
async function atRest(content: string, options: Parameters<typeof setPinnedStage>[0] = {}): Promise<void> {
  stage = await setPinnedStage({ config: content, ...options })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilContents(stage, Array<string>(5).fill(content))
}
