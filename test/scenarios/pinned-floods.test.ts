import { resourcePaths } from '@tranche/kube-client'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { nodesOn, untilPausedAt } from './looks.ts'
import { copies, setPinnedStage, stalled, untilContents, write } from './pinned-stage.ts'
import { createRequestLog, type RequestLog } from './requests.ts'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
let requests: RequestLog
afterEach(() => stage.end())

const { namespace } = stageKey

/** Pods read config `1`, and nothing changes. */
async function atRest(): Promise<void> {
  requests = createRequestLog()
  stage = await setPinnedStage({ config: '1', tap: requests.tap, watchDelayMs: 20 })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilContents(stage, ['1', '1', '1', '1', '1'])
  await stage.pass(120_000)
  requests.reset()
}

async function createConfigMap(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, labels }, data: {} }
  await stage.client.create(resourcePaths.configMaps, object as never)
}

describe('a user who may only write ConfigMaps', () => {
  it('causes no more copies than changes of the template with content that changes faster than a copy is made, and holds no release', async () => {
    await atRest()
    stage.disturb({
      onRequest: ({ actor }) => (actor.startsWith('controller') ? { kind: 'delay', ms: 20, when: 'before' } : undefined),
    })
    const change = async (from: number): Promise<void> => {
      for (let content = from; content < from + 400; content++) {
        await write(stage, String(content))
        await stage.pass(50)
      }
    }
    await change(2)
    await stage.setImage('v2')
    await change(402)
    expect((await copies(stage)).length).toBeLessThanOrEqual(8)
    expect((await stalled(stage))?.status).toBe('False')
    expect(await nodesOn(stage, 'v2')).toHaveLength(1)
  })

  it.each<[sentence: string, isHeld: boolean]>([
    ['causes fewer requests than they send with objects that look like copies, and an approval does not wait', false],
    ['causes fewer requests than they send with such objects while a quota holds the release', true],
  ])('%s', async (_, isHeld) => {
    await atRest()
    const { uid } = (await stage.daemonSet()).metadata
    for (let at = 0; at < 520; at++) await createConfigMap(`x${at}`, { 'tranche.dev/config-of': uid })
    await stage.pass(300_000)
    if (isHeld) refuseCopies()
    await write(stage, '2')
    if (isHeld) await stage.until('it is held', async () => (await stalled(stage))?.status === 'True')
    else await untilPausedAt(stage, 1)
    requests.reset()
    await flood(600)
    const sent = requests.sent().filter(({ identity, what }) => identity.startsWith('controller') && !what.startsWith('WATCH'))
    expect(sent.length).toBeLessThan(600)
    if (isHeld) return
    await untilNextAttempt()
    await stage.approve()
    await flood(10)
    expect((await stage.rollout()).status?.canaryStatus?.currentStepIndex).toBe(2)
  })
})

/** Ten changes a second of an object that looks like a copy. */
async function flood(changes: number): Promise<void> {
  for (let at = 0; at < changes; at++) {
    const body = { metadata: { annotations: { at: String(requests.sent().length + at) } } }
    await stage.client.patch(resourcePaths.configMaps, { namespace, name: 'x7' }, { type: 'merge', body })
    await stage.pass(100)
  }
}

/** The next attempt after this one is allowed three seconds later. */
async function untilNextAttempt(): Promise<void> {
  const before = requests.sent().length
  while (requests.sent().length === before) await flood(1)
  await flood(3)
}

function refuseCopies(): void {
  stage.disturb({
    onRequest: ({ actor, verb, resource }) =>
      actor.startsWith('controller') && verb === 'create' && resource.resource === 'configmaps'
        ? { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'exceeded quota: objects, limited: count/configmaps=2') }
        : undefined,
  })
}

it('a template that names more objects than can be pinned holds its release, and none of them is read', async () => {
  await atRest()
  for (let at = 0; at < 140; at++) await createConfigMap(`big-${at}-x`)
  const { containers = [] } = (await stage.daemonSet()).spec.template.spec as unknown as { readonly containers?: readonly object[] }
  const envFrom = Array.from({ length: 140 }, (_, at) => ({ configMapRef: { name: `big-${at}-x` } }))
  requests.reset()
  await stage.patchDaemonSet({ spec: { template: { spec: { containers: containers.map((one) => ({ ...one, envFrom })) } } } })
  await stage.pass(60_000)
  expect((await stalled(stage))?.message).toContain('names 140 objects of config, and at most 128 can be read')
  expect(requests.sent().filter(({ what }) => what.includes('configmaps/big'))).toEqual([])
})
