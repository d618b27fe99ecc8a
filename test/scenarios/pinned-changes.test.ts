import { resourcePaths } from '@tranche/kube-client'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { addAgent } from './group-stage.ts'
import { deletePod } from './hands.ts'
import { condition, untilPausedAt, untilReleased } from './looks.ts'
import { contents, copies, setPinnedStage, stalled, untilContents, write } from './pinned-stage.ts'
import { createRequestLog } from './requests.ts'
import type { Stage } from './stage.ts'
import { policyKey, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const agent = { namespace: stageKey.namespace, name: 'agent' }

describe('a pinned DaemonSet whose objects users change', () => {
  it('keeps its copies when the source is deleted, and releases what it holds when it is back', async () => {
    await atRest('1')
    await stage.client.delete(resourcePaths.configMaps, agent)
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilContents(stage, ['1', '1', '1', '1', '1'])
    await write(stage, '2')
    await untilPausedAt(stage, 1)
    expect(await contents(stage)).toEqual(['1', '1', '1', '1', '2'])
  })

  it('gets a copy again that a user deletes', async () => {
    await atRest('1')
    for (const { metadata } of await copies(stage)) await stage.client.delete(resourcePaths.configMaps, { ...agent, name: metadata.name })
    await stage.until('the copy is back', async () => (await copies(stage)).length === 1, 60_000)
    expect(await contents(stage)).toEqual(['1', '1', '1', '1', '1'])
    expect((await stage.rollout()).status?.phase).toBe('Healthy')
  })

  it('releases a content again after a rollback, once a user removes the annotation and retries, and says that it is rolled back', async () => {
    await atRest('1')
    await write(stage, '2')
    await untilPausedAt(stage, 1)
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
    await untilContents(stage, ['1', '1', '1', '1', '1'])
    expect(await condition(stage, 'ConfigUnversioned')).toMatchObject({ status: 'False', reason: 'RolledBack' })
    await stage.patchDaemonSet({ spec: { template: { metadata: { annotations: { 'tranche.dev/pinned-config': null } } } } })
    await stage.until('its revision is blocked', async () => (await stalled(stage))?.reason === 'RevisionHeld')
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'b', type: 'retry' }) } } })
    await untilPausedAt(stage, 1)
    expect(await contents(stage)).toEqual(['1', '1', '1', '1', '2'])
  })

  it('is rolled back to its template without copies, which stays until the content changes', async () => {
    stage = await setPinnedStage()
    await write(stage, '1')
    await untilPausedAt(stage, 1)
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
    await untilContents(stage, ['live', 'live', 'live', 'live', 'live'])
    await stage.until('it is at rest', async () => (await stage.rollout()).status?.phase === 'Healthy', 120_000)
    await stage.pass(300_000)
    expect(await contents(stage)).toEqual(['live', 'live', 'live', 'live', 'live'])
    expect(await condition(stage, 'ConfigUnversioned')).toMatchObject({ status: 'True', reason: 'NamesWithoutHash' })
    await write(stage, '2')
    await untilPausedAt(stage, 1)
    expect(await contents(stage)).toEqual(['2', 'live', 'live', 'live', 'live'])
  })

  it('is rolled back to its template without copies, also after an undo to the copies of an earlier content', async () => {
    stage = await setPinnedStage()
    await write(stage, '1')
    await untilPausedAt(stage, 1)
    const { annotations: first = {} } = (await stage.daemonSet()).spec.template.metadata ?? {}
    await write(stage, '2')
    await stage.until('a node reads it', async () => (await contents(stage)).includes('2'))
    await untilPausedAt(stage, 1)
    await stage.patchDaemonSet({ spec: { template: { metadata: { annotations: first } } } })
    await stage.until('the copies of the first content are back', async () => !(await contents(stage)).includes('2'))
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
    await stage.until('it is at rest', async () => (await stage.rollout()).status?.phase === 'Healthy', 300_000)
    await stage.pass(60_000)
    expect(await contents(stage)).toEqual(['live', 'live', 'live', 'live', 'live'])
    expect((await stage.rollout()).status?.phase).toBe('Healthy')
  })

  it('is rolled back from a new image to its template without copies, on every node at once', async () => {
    stage = await setPinnedStage()
    await stage.setImage('v2')
    await write(stage, '1')
    await untilPausedAt(stage, 1)
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
    await stage.until('it is at rest', async () => (await stage.rollout()).status?.phase === 'Healthy', 300_000)
    expect(await contents(stage)).toEqual(['live', 'live', 'live', 'live', 'live'])
    expect((await stage.daemonSet()).spec.template.spec?.containers?.[0]).toMatchObject({ image: expect.stringContaining('v1') as string })
  })

  it('starts pods with their copies while no controller runs, and pods of nodes that join', async () => {
    await atRest('1')
    stage.program('controller-1').kill()
    await write(stage, '2')
    for (const pod of (await stage.pods()).slice(0, 3)) await deletePod(stage, pod)
    await stage.pass(60_000)
    expect(await contents(stage)).toEqual(['1', '1', '1', '1', '1'])
  })

  it('changes its template three times in a row, then once in 30 seconds, however often a user changes an object', async () => {
    const requests = createRequestLog()
    await atRest('1', { tap: requests.tap })
    await stage.pass(120_000)
    requests.reset()
    const templates = new Set<string>()
    for (let content = 2; content <= 301; content++) {
      await write(stage, String(content))
      await stage.pass(100)
      templates.add(JSON.stringify((await stage.daemonSet()).spec.template.metadata?.annotations))
    }
    expect(templates.size).toBeGreaterThanOrEqual(3)
    expect(templates.size).toBeLessThanOrEqual(4)
    const ofConfig = requests.sent().filter(({ what }) => what.includes('configmaps') && !what.startsWith('WATCH'))
    expect(ofConfig.length).toBeLessThanOrEqual(50)
    await untilPausedAt(stage, 1)
    await stage.until('the last content is out', async () => (await contents(stage)).includes('301'), 60_000)
  })

  it('continues the release of its copies while the next content waits, and takes another image at once', async () => {
    await atRest('1')
    await stage.pass(120_000)
    for (const content of ['2', '3', '4', '5']) {
      await write(stage, content)
      await stage.pass(1_000)
    }
    await stage.pass(10_000)
    expect(await contents(stage)).toEqual(['1', '1', '1', '1', '4'])
    expect((await stalled(stage))?.status).toBe('False')
    await stage.setImage('v2')
    await stage.pass(10_000)
    expect((await stage.pods()).filter((pod) => JSON.stringify(pod.spec).includes(':v2'))).toHaveLength(1)
    await stage.pass(10_000)
    await untilPausedAt(stage, 1)
    expect(await contents(stage)).toEqual(['1', '1', '1', '1', '5'])
  })

  it('says that copies follow no change any more when the policy no longer asks for them', async () => {
    await atRest('1')
    await stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body: { spec: { config: null } } })
    await stage.until('it is said', async () => (await condition(stage, 'ConfigUnversioned'))?.reason === 'PinnedBefore')
  })
})

describe('copies', () => {
  it('hold a ConfigMap at the size limit, with binary data', async () => {
    stage = await setPinnedStage()
    const data = { large: 'x'.repeat(524_288) }
    const binaryData = { half: Buffer.alloc(524_288 - 64, 7).toString('base64') }
    await stage.client.create(resourcePaths.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: agent, data, binaryData } as never)
    await untilPausedAt(stage, 1)
    const [copy] = await copies(stage)
    expect(copy).toMatchObject({ immutable: true, data, binaryData })
  })

  it('of two DaemonSets that read one ConfigMap are their own, and each is released by itself', async () => {
    await atRest('1')
    const options = { nodes: 5, configMaps: ['agent'], policy: { config: 'Pin' as const }, steps: [{ replicas: '100%' }] }
    const other = await addAgent(stage, 'log-agent', options)
    await stage.until('both have a copy', async () => (await copies(stage)).length === 2, 120_000)
    await write(stage, '2')
    await untilPausedAt(stage, 1)
    await stage.until('the other one is released', async () => (await other.rollout()).status?.phase === 'Healthy', 300_000)
    expect(await contents(stage)).toEqual(['1', '1', '1', '1', '2', ...Array<string>(5).fill('2')].toSorted())
  })

  it('that only the kept template of the stable revision names survive, although the history holds no revision', async () => {
    await atRest('1')
    await stage.patchDaemonSet({ spec: { revisionHistoryLimit: 0 } })
    await write(stage, '2')
    await untilPausedAt(stage, 1)
    for (const pod of await stage.pods()) if (pod.metadata.deletionTimestamp === undefined) await deletePod(stage, pod)
    await stage.pass(300_000)
    expect((await copies(stage)).map(({ data }) => data?.['level']).toSorted()).toEqual(['1', '2'])
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
    await untilContents(stage, ['1', '1', '1', '1', '1'])
  })

  it('do not stop a release of a pinned template while the objects cannot be read', async () => {
    await atRest('1')
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    refuse(['get', 'list'], new ApiStatusError(503, 'ServiceUnavailable', 'later'))
    await write(stage, '2')
    await stage.pass(60_000)
    expect((await stalled(stage))?.status).toBe('False')
    await stage.approve()
    await untilReleased(stage, 'v2')
  })

  it('do not stop a release of a pinned template while the API server fails to create the next ones', async () => {
    await atRest('1')
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const allow = refuse(['create'], new ApiStatusError(500, 'InternalError', 'etcd is busy'))
    await write(stage, '2')
    await stage.pass(60_000)
    expect((await stalled(stage))?.status).toBe('False')
    await stage.approve()
    await untilReleased(stage, 'v2')
    allow()
    await untilPausedAt(stage, 1)
    await stage.until('the next content is released', async () => (await contents(stage)).includes('2'))
  })

  it('hold the release while a quota refuses them, and say so', async () => {
    await atRest('1')
    refuse(['create'], new ApiStatusError(403, 'Forbidden', 'exceeded quota: objects, limited: count/configmaps=2'))
    await write(stage, '2')
    await stage.until('it is held', async () => (await stalled(stage))?.reason === 'ConfigUnpinned', 60_000)
    expect((await stalled(stage))?.message).toContain('exceeded quota')
    expect((await stalled(stage))?.message).toContain('raise the ResourceQuota for configmaps of namespace demo')
    expect(await contents(stage)).toEqual(['1', '1', '1', '1', '1'])
  })

  it('cost few requests for each change, and none at rest', async () => {
    const requests = createRequestLog()
    await atRest('1', { tap: requests.tap })
    await stage.pass(120_000)
    requests.reset()
    await stage.pass(3_600_000)
    const ofConfig = (): readonly string[] =>
      requests.sent().flatMap(({ what }) => (what.includes('configmaps') && !what.startsWith('WATCH') ? [what] : []))
    expect(ofConfig()).toEqual([])
    await write(stage, '2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilContents(stage, ['2', '2', '2', '2', '2'])
    expect(ofConfig()).toHaveLength(12)
  })
})

/** Every pod reads a copy with this content. */
async function atRest(content: string, options: Parameters<typeof setPinnedStage>[0] = {}): Promise<void> {
  stage = await setPinnedStage({ config: content, ...options })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilContents(stage, Array<string>(5).fill(content))
}

/** Requests of controllers for ConfigMaps fail. @returns a function that ends this */
function refuse(verbs: readonly string[], error: ApiStatusError): () => void {
  return stage.disturb({
    onRequest: ({ actor, verb, resource }) =>
      actor.startsWith('controller') && verbs.includes(verb) && resource.resource === 'configmaps' ? { kind: 'error', error } : undefined,
  })
}
