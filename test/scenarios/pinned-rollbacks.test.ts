import { resourcePaths } from '@tranche/kube-client'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilPausedAt } from './looks.ts'
import { contents, copies, ignoreConfig, setPinnedStage, untilContents, write } from './pinned-stage.ts'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const ones = ['1', '1', '1', '1', '1']

describe('an abort while config cannot be pinned', () => {
  it.each<[sentence: string, reason: string, text: string, disturb: () => Promise<unknown>]>([
    [
      'a quota refuses copies',
      'CopyFailed',
      'raise the ResourceQuota for configmaps of namespace demo',
      async () => refuse(['create'], new ApiStatusError(403, 'Forbidden', 'exceeded quota: objects, limited: count/configmaps=2')),
    ],
    [
      'a right is missing',
      'ConfigUnread',
      'grant it the permissions of rbac.configPin',
      async () => refuse(['get', 'list'], new ApiStatusError(403, 'Forbidden', 'no')),
    ],
    ['the API server does not answer', 'NoAnswer', 'has not answered', async () => ignoreConfig(stage)],
  ])('is carried out: %s, and the condition says so', async (_sentence, reason, text, disturb) => {
    await inRelease()
    await disturb()
    // The next leader knows nothing of the copies.
    stage.program('controller-1').kill()
    await stage.startController('controller-3')
    await write(stage, '2')
    await stage.until('it is held', async () => (await condition(stage, 'ConfigUnversioned'))?.reason === reason, 60_000)
    expect((await condition(stage, 'ConfigUnversioned'))?.message).toContain(text)
    await abort()
    await stage.until('all nodes run the stable version', async () => (await nodesOn(stage, 'v1')).length === 5, 60_000)
    expect(await contents(stage)).toEqual(ones)
    await stage.until('the rollback is over', async () => (await stage.rollout()).status?.phase === 'Healthy', 60_000)
    expectKept(stage)
  })

  it('is carried out while config keeps changing, and the last content is released after the rollback', async () => {
    await inRelease()
    await abort()
    await stage.until('it is accepted', async () => (await stage.rollout()).status?.lastAction?.result === 'Accepted', 10_000)
    expect((await stage.rollout()).status?.phase).toBe('Progressing')
    const seen = new Set<string>()
    for (let content = 2; content < 42; content++) {
      await write(stage, String(content))
      await stage.pass(500)
      const { phase, rollbackFrom } = (await stage.rollout()).status ?? {}
      if (phase === 'Progressing' && rollbackFrom !== undefined) for (const one of await contents(stage)) seen.add(one)
    }
    expect([await nodesOn(stage, 'v2'), [...seen]]).toEqual([[], ['1']])
    expect((await stage.rollout()).status?.releases?.some(({ result }) => result === 'RolledBack')).toBe(true)
    await untilPausedAt(stage, 1)
    expect((await contents(stage)).filter((content) => content !== '1')).toHaveLength(1)
    expectKept(stage)
  })

  it('is carried out though a copy that the stable template names is gone, and the copy is made again', async () => {
    await inRelease()
    await abort()
    for (const { metadata } of await copies(stage))
      await stage.client.delete(resourcePaths.configMaps, { namespace: stageKey.namespace, name: metadata.name })
    await untilContents(stage, ones)
    expect(await nodesOn(stage, 'v1')).toHaveLength(5)
    expectKept(stage)
  })
})

describe('a version that was aborted together with a change of config', () => {
  it.each([
    ['is not released when its manifest is applied again, which names no copies (G12)', 'v2', 'RevisionHeld'],
    ['is followed by another one, with the config of the stable version', 'v3', undefined],
  ])('%s', async (_sentence, next, reason) => {
    stage = await setPinnedStage({ config: '1' })
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilContents(stage, ones)
    await Promise.all([write(stage, '2'), stage.setImage('v2')])
    await stage.until('both are released', async () => (await contents(stage)).includes('2'), 60_000)
    await untilPausedAt(stage, 1)
    await abort()
    await untilContents(stage, ones)
    await stage.setImage(next)
    await stage.pass(2 * 60_000)
    expect([(await condition(stage, 'Stalled'))?.reason, (await nodesOn(stage, 'v2')).length]).toEqual([reason ?? 'NotStalled', 0])
    expect(await nodesOn(stage, next)).toHaveLength(reason === undefined ? 1 : 0)
    expect(await contents(stage)).toEqual(ones)
    expectKept(stage)
  })
})

describe('a Rollout that is disabled while config cannot be pinned', () => {
  it('completes no release without copies, and completes it with them once they can be created (Complete)', async () => {
    const allow = await heldRelease()
    await disable('Complete')
    await stage.pass(5 * 60_000)
    expect([await contents(stage), (await condition(stage, 'Stalled'))?.reason]).toEqual([ones, 'ConfigUnpinned'])
    allow()
    await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled', 10 * 60_000)
    expect([await nodesOn(stage, 'v2'), await contents(stage)]).toEqual([expect.objectContaining({ length: 5 }), ['2', '2', '2', '2', '2']])
    expectKept(stage)
  })

  it('is rolled back all the same (Rollback)', async () => {
    await inRelease()
    refuse(['create'], quota)
    await write(stage, '2')
    await applyWithoutCopies('v2')
    await stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'ConfigUnpinned', 60_000)
    await disable('Rollback')
    await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled', 10 * 60_000)
    expect([await nodesOn(stage, 'v2'), await contents(stage)]).toEqual([[], ones])
    expectKept(stage)
  })

  it('goes back to the stable template that a user applies meanwhile (Complete)', async () => {
    await inRelease()
    refuse(['create'], quota)
    await write(stage, '2')
    await stage.until('it is held', async () => (await condition(stage, 'ConfigUnversioned'))?.reason === 'CopyFailed', 60_000)
    await disable('Complete')
    await stage.until('it is disabling', async () => (await stage.rollout()).status?.phase === 'Disabling', 60_000)
    await stage.setImage('v1')
    await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled', 10 * 60_000)
    expect([await nodesOn(stage, 'v2'), await contents(stage)]).toEqual([[], ones])
    expectKept(stage)
  })

  it('stays as it is (Freeze)', async () => {
    await heldRelease()
    await disable('Freeze')
    await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled', 60_000)
    await stage.pass(5 * 60_000)
    expect(await contents(stage)).toEqual(ones)
  })
})

const quota = new ApiStatusError(403, 'Forbidden', 'exceeded quota: objects, limited: count/configmaps=2')

/** All nodes run v1. The template is v2 without copies, and no copy of the present config can be created. @returns ends that */
async function heldRelease(): Promise<() => void> {
  stage = await setPinnedStage({ config: '1' })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilContents(stage, ones)
  const allow = refuse(['create'], quota)
  await write(stage, '2')
  await applyWithoutCopies('v2')
  await stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'ConfigUnpinned', 60_000)
  return allow
}

/** As a client that applies its manifest, which knows nothing of copies. */
async function applyWithoutCopies(tag: string): Promise<void> {
  const envFrom = [{ configMapRef: { name: 'agent', optional: true } }]
  const containers = [{ name: 'agent', image: `registry.example/node-agent:${tag}`, envFrom }]
  await stage.patchDaemonSet({ spec: { template: { metadata: { annotations: null }, spec: { containers } } } })
}

async function disable(onDelete: string): Promise<void> {
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/on-delete': onDelete } }, spec: { disabled: true } })
}

/** Two of five nodes run v2 with the config of v1, and the release waits for an approval. */
async function inRelease(): Promise<void> {
  stage = await setPinnedStage({ config: '1' })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilContents(stage, ones)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
}

async function abort(): Promise<void> {
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
}

/** Requests of controllers for ConfigMaps fail. @returns ends that */
function refuse(verbs: readonly string[], error: ApiStatusError): () => void {
  return stage.disturb({
    onRequest: ({ actor, verb, resource }) =>
      actor.startsWith('controller') && verbs.includes(verb) && resource.resource === 'configmaps' ? { kind: 'error', error } : undefined,
  })
}
