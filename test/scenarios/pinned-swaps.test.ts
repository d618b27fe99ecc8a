import { pinsOf } from '@tranche/config'
import { resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilPausedAt } from './looks.ts'
import { type SeenChange, seenChanges } from './mounted-config.ts'
import { contents, setPinnedStage, stalled, untilContents, write } from './pinned-stage.ts'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const { namespace } = stageKey
const ones = ['1', '1', '1', '1', '1']
const encoded = (text: string): string => Buffer.from(text).toString('base64')

describe('a copy that another client replaces, with all its marks and other content,', () => {
  it.each([true, false])(
    'reaches no further node while its release pauses (immutable: %s): the right content is released',
    async (immutable) => {
      await inConfigRelease()
      const fromMs = stage.clock.nowMs()
      const name = await named('ConfigMap/agent')
      await swap('ConfigMap/agent', { data: { level: 'evil' }, immutable })
      await untilOtherCopy('ConfigMap/agent', name)
      await untilReleased()
      expect(brought(fromMs, 'evil')).toEqual([])
      expectKept(stage)
    },
  )

  it('reaches no further node either where it has none of the marks', async () => {
    await inConfigRelease()
    const fromMs = stage.clock.nowMs()
    const name = await named('ConfigMap/agent')
    await swap('ConfigMap/agent', { metadata: { namespace, name }, data: { level: 'evil' } })
    await untilOtherCopy('ConfigMap/agent', name)
    await untilReleased()
    expect(brought(fromMs, 'evil')).toEqual([])
  })

  it('is found by a controller that has just started', async () => {
    await inConfigRelease()
    stage.program('controller-1').kill()
    const fromMs = stage.clock.nowMs()
    const name = await named('ConfigMap/agent')
    await swap('ConfigMap/agent', { data: { level: 'evil' } })
    await stage.startController('controller-3')
    await untilOtherCopy('ConfigMap/agent', name)
    await untilReleased()
    expect(brought(fromMs, 'evil')).toEqual([])
  })

  it('reaches no further node by a Secret, also where another copy is pinned beside it', async () => {
    stage = await setPinnedStage({ configMaps: ['agent'], config: '1', secrets: ['token'], pinSecretNamespaces: [namespace] })
    await createSecret('good')
    await untilPausedAt(stage, 1)
    const fromMs = stage.clock.nowMs()
    const name = await named('Secret/token')
    await swap('Secret/token', { data: { value: encoded('evil') } })
    await write(stage, '2')
    await untilOtherCopy('Secret/token', name)
    await untilReleased()
    expect(brought(fromMs, encoded('evil'))).toEqual([])
    const present = { namespace, name: await named('Secret/token') }
    expect(await stage.client.get(resourcePaths.secrets, present)).toMatchObject({ immutable: true, data: { value: encoded('good') } })
  })

  it('is no fault where its content is that of the copy', async () => {
    await inConfigRelease()
    const name = await named('ConfigMap/agent')
    await swap('ConfigMap/agent', {})
    await untilReleased()
    expect(await named('ConfigMap/agent')).toBe(name)
  })
})

describe('a rollback to a template whose copy another client has replaced', () => {
  it.each([
    ['before the abort', 60_000],
    ['together with the abort', 0],
  ])('brings its content to no node: it holds, and names the copy (%s)', async (_, ms) => {
    const name = await inConfigRelease()
    const fromMs = stage.clock.nowMs()
    await swap('ConfigMap/agent', { data: { level: 'evil' } }, name)
    await stage.pass(ms)
    await abort()
    await stage.until('it holds', isHeld, 60_000)
    await stage.pass(5 * 60_000)
    expect(brought(fromMs, 'evil')).toEqual([])
    expect((await stalled(stage))?.message).toContain(`ConfigMap ${name} (copy of agent). Delete each of these objects`)
    expect(await condition(stage, 'ConfigUnversioned')).toMatchObject({ status: 'True', reason: 'RollbackInProgress' })
    // Another template is the way out.
    await stage.setImage('v3')
    await untilReleased()
    expect(brought(fromMs, 'evil')).toEqual([])
  })

  it('brings its content to no node either while the API server is slow: the first pod waits for the comparison', async () => {
    const name = await inConfigRelease()
    const fromMs = stage.clock.nowMs()
    stage.disturb({
      onRequest: ({ actor, verb, resource }) =>
        actor.startsWith('controller') && ['get', 'list'].includes(verb) && resource.resource === 'configmaps'
          ? { kind: 'delay', ms: 2_000, when: 'before' }
          : undefined,
    })
    await swap('ConfigMap/agent', { data: { level: 'evil' } }, name)
    await abort()
    await stage.until('it holds', isHeld, 60_000)
    await stage.pass(60_000)
    expect(brought(fromMs, 'evil')).toEqual([])
  })

  it('continues once the object is deleted: the copy is made again while its source has the content', async () => {
    stage = await setPinnedStage({ config: '1' })
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilContents(stage, ones)
    const name = await named('ConfigMap/agent')
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const fromMs = stage.clock.nowMs()
    await swap('ConfigMap/agent', { data: { level: 'evil' } })
    await untilOtherCopy('ConfigMap/agent', name)
    await stage.pass(60_000)
    await abort()
    await stage.until('it holds', isHeld, 60_000)
    await stage.client.delete(resourcePaths.configMaps, { namespace, name })
    await untilContents(stage, ones)
    expect(brought(fromMs, 'evil')).toEqual([])
    expect(await nodesOn(stage, 'v1')).toHaveLength(5)
  })

  it('continues with the copy from a backup', async () => {
    const name = await inConfigRelease()
    await swap('ConfigMap/agent', { data: { level: 'evil' } }, name)
    await abort()
    await stage.until('it holds', isHeld, 60_000)
    await swap('ConfigMap/agent', { data: { level: '1' } }, name)
    await untilContents(stage, ones)
    expectKept(stage)
  })
})

/** One of five nodes has the content 2, and the release waits for an approval. @returns the name of the copy of the stable content, 1 */
async function inConfigRelease(): Promise<string> {
  stage = await setPinnedStage({ config: '1' })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilContents(stage, ones)
  const name = await named('ConfigMap/agent')
  await write(stage, '2')
  await untilPausedAt(stage, 1)
  expect((await contents(stage)).filter((content) => content === '2')).toHaveLength(1)
  return name
}

/** Deletes a copy and creates one in its place, as a user with rights on these objects alone can. */
async function swap(key: string, change: object, name?: string): Promise<void> {
  const [kind = ''] = key.split('/')
  const path = kind === 'Secret' ? resourcePaths.secrets : resourcePaths.configMaps
  const at = { namespace, name: name ?? (await named(key)) }
  const copy = await stage.client.get<KubeObject>(path, at)
  const { resourceVersion: _version, uid: _uid, ...metadata } = copy.metadata
  await stage.client.delete(path, at)
  await stage.client.create(path, { ...copy, kind, apiVersion: 'v1', metadata, ...change } as never)
}

async function createSecret(value: string): Promise<void> {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'token' },
    type: 'Opaque',
    data: { value: encoded(value) },
  }
  await stage.client.create(resourcePaths.secrets, secret as unknown as KubeObject)
}

async function named(key: string): Promise<string> {
  return pinsOf((await stage.daemonSet()).spec.template).get(key) ?? ''
}

/** Approves the release of the content 2, and waits for its end. */
async function untilReleased(): Promise<void> {
  await stage.pass(60_000)
  await stage.approve()
  await untilContents(stage, ['2', '2', '2', '2', '2'])
}

async function untilOtherCopy(key: string, before: string): Promise<void> {
  await stage.until('the template names another copy', async () => (await named(key)) !== before, 60_000)
}

async function abort(): Promise<void> {
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
}

async function isHeld(): Promise<boolean> {
  return (await stalled(stage))?.reason === 'ConfigUnpinned'
}

/** Changes by which new pods read a content. A kubelet does not read an immutable object again for running pods. */
function brought(fromMs: number, content: string): readonly SeenChange[] {
  return seenChanges(stage.recording(), fromMs).filter((change) => change.by !== 'mount' && change.content.includes(content))
}
