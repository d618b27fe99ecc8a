import { inspect } from 'node:util'
import { pinsOf } from '@tranche/config'
import { resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { ApiStatusError } from '@tranche/sim-api'
import type { LogFields, Logger } from '@tranche/telemetry'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { condition, untilPausedAt, untilReleased } from './looks.ts'
import { seenChanges } from './mounted-config.ts'
import { setPinnedStage, stalled } from './pinned-stage.ts'
import { createRequestLog } from './requests.ts'
import type { Stage, StageOptions } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const { namespace } = stageKey
const token = { namespace, name: 'token' }
const abort = { metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } }

interface Secret extends KubeObject {
  readonly type?: string
  readonly immutable?: boolean
  readonly data?: Readonly<Record<string, string>>
}

describe('a Secret that changes, where the installation lets its policy pin it', () => {
  it('is released in batches, comes back with a rollback, and reaches no node in another way', async () => {
    await atRest('first')
    const fromMs = stage.clock.nowMs()
    await writeSecret('second')
    await untilPausedAt(stage, 1)
    await stage.pass(300_000)
    expect(changesSince(fromMs)).toEqual([['second', 'batch']])
    await stage.approve()
    await untilAllRead('second')
    expect(changesSince(fromMs)).toEqual(Array<unknown>(5).fill(['second', 'batch']))

    const badMs = stage.clock.nowMs()
    await writeSecret('bad-one')
    await untilPausedAt(stage, 1)
    await stage.patchRollout(abort)
    await untilAllRead('second')
    await stage.pass(300_000)
    expect(changesSince(badMs)).toEqual([
      ['bad-one', 'batch'],
      ['second', 'batch'],
    ])
    expectKept(stage)
  })

  it('is no release when only its labels change, also after a rollback', async () => {
    await atRest('first')
    await writeSecret('second')
    await untilPausedAt(stage, 1)
    await stage.patchRollout(abort)
    await untilAllRead('first')
    const { generation } = (await stage.daemonSet()).metadata
    await stage.client.patch(resourcePaths.secrets, token, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } })
    await stage.pass(120_000)
    expect((await stage.daemonSet()).metadata.generation).toBe(generation)
    expect(await reads()).toEqual(Array<string>(5).fill('first'))
  })

  it('has copies that are Secrets with its type, immutable, in its namespace, and owned by the DaemonSet', async () => {
    const { metadata } = await atRest('first', 'example.com/token')
    const [copy] = await copiesOf()
    expect(copy).toMatchObject({ type: 'example.com/token', immutable: true, metadata: { namespace } })
    expect(copy?.data).toEqual({ value: base64('first') })
    expect(copy?.metadata.ownerReferences).toEqual([expect.objectContaining({ kind: 'DaemonSet', uid: metadata.uid })])
  })

  it('leaves its content in no object but Secrets, and in no line of a log', async () => {
    const lines: string[] = []
    await atRest('sesame-open-up-1', undefined, { log: collecting(lines) })
    stage.disturb({
      onRequest: ({ actor, verb, resource }) =>
        actor.startsWith('controller') && verb === 'create' && resource.resource === 'secrets'
          ? { kind: 'error', error: new ApiStatusError(403, 'Forbidden', `a webhook rejects ${base64('sesame-open-up-2')}`) }
          : undefined,
    })
    await writeSecret('sesame-open-up-2')
    await stage.until('it is held', async () => (await stalled(stage))?.reason === 'ConfigUnpinned', 60_000)
    const said = (await stalled(stage))?.message
    expect(said).toContain('403 Forbidden')
    const others = stage.recording().filter(({ kind }) => kind !== 'Secret')
    for (const text of [JSON.stringify(others), lines.join('\n')]) {
      expect(text).not.toContain('sesame')
      for (const part of ['sesame-open-up-1', 'sesame-open-up-2']) expect(text).not.toContain(base64(part))
    }
    expect(lines.length).toBeGreaterThan(0)
  })

  it('is never followed where another client has put a Secret with the name and the marks of a copy', async () => {
    await atRest('first')
    const [copy] = await copiesOf()
    const { resourceVersion: _version, uid: _uid, ...metadata } = copy!.metadata
    await stage.client.delete(resourcePaths.secrets, { namespace, name: metadata.name })
    await stage.client.create(resourcePaths.secrets, { ...copy, metadata, data: { value: base64('evil') } } as never)
    await stage.patchDaemonSet({ spec: { template: { metadata: { annotations: { 'tranche.dev/pinned-config': null } } } } })
    const named = async (): Promise<string | undefined> => pinsOf((await stage.daemonSet()).spec.template).get('Secret/token')
    await stage.until('another copy is named', async () => ![undefined, metadata.name].includes(await named()), 60_000)
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilAllRead('first')
  })

  it('holds the release where its type cannot be copied, and says what to do', async () => {
    stage = await setSecretStage({})
    await writeSecret('first', 'kubernetes.io/service-account-token')
    await stage.until('it is held', async () => (await stalled(stage))?.reason === 'ConfigUnpinned', 60_000)
    expect((await stalled(stage))?.message).toContain('mount a projected serviceAccountToken in its place')
    expect(await copiesOf()).toEqual([])
  })

  it('holds the release while the right is missing, and names the value of the chart', async () => {
    stage = await setSecretStage({})
    stage.disturb({
      onRequest: ({ actor, resource }) =>
        actor.startsWith('controller') && resource.resource === 'secrets'
          ? { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'no secrets') }
          : undefined,
    })
    await writeSecret('first')
    await stage.setImage('v2')
    await stage.until('it is held', async () => (await stalled(stage))?.reason === 'ConfigUnpinned', 60_000)
    expect((await stalled(stage))?.message).toMatch(/may not (get|list) secrets; grant it the permissions of rbac\.pinSecretNamespaces/)
  })

  it('costs few requests for each change, and none at rest', async () => {
    const requests = createRequestLog()
    await atRest('first', undefined, { tap: requests.tap })
    await stage.pass(120_000)
    requests.reset()
    await stage.pass(3_600_000)
    const ofSecrets = (): readonly string[] =>
      requests.sent().flatMap(({ what }) => (what.includes('/secrets') && !what.startsWith('WATCH') ? [what] : []))
    expect(ofSecrets()).toEqual([])
    await writeSecret('second')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilAllRead('second')
    expect(ofSecrets().length).toBeLessThanOrEqual(16)
  })
})

describe('a Secret that changes, where the installation does not let its policy pin it', () => {
  it.each<[sentence: string, namespaces: readonly string[]]>([
    ['in no namespace', []],
    ['in another one', ['other']],
  ])('is read as it is (%s), sends no request for Secrets, and holds nothing', async (_sentence, pinSecretNamespaces) => {
    const requests = createRequestLog()
    stage = await setSecretStage({ pinSecretNamespaces, tap: requests.tap })
    await writeSecret('first')
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expect(requests.sent().filter(({ what }) => what.includes('/secrets'))).toEqual([])
    expect(await condition(stage, 'ConfigUnversioned')).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/Secret token .* list the namespace in rbac\.pinSecretNamespaces of the chart$/) as string,
    })
  })
})

async function atRest(value: string, type?: string, options: StageOptions = {}): ReturnType<Stage['daemonSet']> {
  stage = await setSecretStage(options)
  await writeSecret(value, type)
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilAllRead(value)
  return stage.daemonSet()
}

function setSecretStage(options: StageOptions): Promise<Stage> {
  return setPinnedStage({ configMaps: [], secrets: ['token'], pinSecretNamespaces: [namespace], ...options })
}

async function writeSecret(value: string, type = 'Opaque'): Promise<void> {
  const annotations = type === 'kubernetes.io/service-account-token' ? { 'kubernetes.io/service-account.name': 'default' } : {}
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { ...token, annotations }, type, data: { value: base64(value) } }
  await stage.client
    .create(resourcePaths.secrets, object as never)
    .catch(() => stage.client.patch(resourcePaths.secrets, token, { type: 'merge', body: { data: { value: base64(value) } } }))
}

async function copiesOf(): Promise<readonly Secret[]> {
  return (await stage.client.list<Secret>(resourcePaths.secrets, { namespace, labelSelector: 'tranche.dev/config-of' })).items
}

/** What each standing pod reads, in order: the content of an immutable copy, or `live`. */
async function reads(): Promise<readonly string[]> {
  const copies = await copiesOf()
  const pods = (await stage.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return pods
    .map(({ spec }) => {
      const { containers } = spec as unknown as {
        readonly containers: readonly { readonly envFrom: readonly { readonly secretRef: { readonly name: string } }[] }[]
      }
      const name = containers[0]?.envFrom[0]?.secretRef.name
      const copy = copies.find(({ metadata, immutable }) => metadata.name === name && immutable === true)
      return copy === undefined ? `live ${name}` : Buffer.from(copy.data?.['value'] ?? '', 'base64').toString()
    })
    .toSorted()
}

async function untilAllRead(value: string): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    (await reads()).every((one) => one === value) && (await stage.rollout()).status?.phase === 'Healthy'
  await stage.until(`pods read ${value}`, isThere)
}

function changesSince(fromMs: number): readonly (readonly [content: string, by: string])[] {
  return seenChanges(stage.recording(), fromMs).map(({ content, by }) => {
    const { value } = JSON.parse(content) as { readonly value: string }
    return [Buffer.from(value, 'base64').toString(), by]
  })
}

/** A log that shows each field in full, with errors and their causes. */
function collecting(lines: string[]): Logger {
  const write = (fields: LogFields, message: string): void => void lines.push(`${message} ${inspect(fields, { depth: 20 })}`)
  return { debug: write, info: write, warn: write, error: write, child: () => collecting(lines) }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
