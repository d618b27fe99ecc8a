import { resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { events } from './hands.ts'
import { untilPausedAt, untilReleased } from './looks.ts'
import { createRequestLog, type RequestLog } from './requests.ts'
import { setStage, type Stage } from './stage.ts'
import { imageOf, rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

describe('config that is not part of the version', () => {
  it('is named in the condition and in one event through a release and its rollback, and no ConfigMap or Secret is read', async () => {
    const log = createRequestLog()
    stage = await setStage({ nodes: 4, configMaps: ['agent', 'agent-1a2b3c4d'], tap: log.tap })
    expect(await condition()).toMatchObject({
      status: 'True',
      reason: 'NamesWithoutHash',
      message: expect.stringContaining('ConfigMap agent '),
    })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.setImage('v1')
    await untilReleased(stage, 'v1')
    expect(await condition()).toMatchObject({ status: 'True' })
    expect((await events(stage)).filter(({ reason }) => reason === 'ConfigUnversioned')).toHaveLength(1)
    expect(configReads(log)).toEqual([])
  })

  it('is no longer named after a release of a template that names it by its hash', async () => {
    stage = await setStage({ nodes: 4, steps: [{ replicas: '100%' }], configMaps: ['agent'] })
    expect(await condition()).toMatchObject({ status: 'True' })
    const container = { name: 'agent', image: imageOf('v1'), envFrom: [{ configMapRef: { name: 'agent-7g2kc9hb4m', optional: true } }] }
    await stage.patchDaemonSet({ spec: { template: { spec: { containers: [container] } } } })
    await stage.until('the condition is gone', async () => (await condition()) === undefined)
  })

  it('does not count an immutable ConfigMap where the installation lets the controller read it, with one request in five minutes', async () => {
    const log = createRequestLog()
    stage = await setStage({
      nodes: 4,
      configMaps: ['agent', 'other', 'agent-1a2b3c4d'],
      readConfig: true,
      tap: log.tap,
      withRollout: false,
    })
    await stage.client.create(resourcePaths.configMaps, { ...configMap('agent'), immutable: true })
    await stage.client.create(resourcePaths.configMaps, configMap('other'))
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({}) as KubeObject)
    await stage.until('the condition names one', async () => (await condition())?.message.includes('ConfigMap other ') === true)
    await stage.setImage('v2')
    await untilPausedAt(stage, 1, 200_000)
    expect((await condition())?.message).not.toContain('ConfigMap agent')
    expect(configReads(log).toSorted()).toEqual(['agent', 'other'].map((name) => `GET /api/v1/namespaces/demo/configmaps/${name}`))
  })

  it('is no longer named once its ConfigMap became immutable, though nothing else changes', async () => {
    stage = await setStage({ nodes: 4, configMaps: ['agent'], readConfig: true })
    expect(await condition()).toMatchObject({ status: 'True' })
    await stage.client.create(resourcePaths.configMaps, { ...configMap('agent'), immutable: true })
    await stage.until('the condition is gone', async () => (await condition()) === undefined, 301_000)
  })

  it('is judged by names where the permission to read ConfigMaps is missing, and the release continues', async () => {
    stage = await setStage({
      nodes: 4,
      configMaps: ['agent'],
      readConfig: true,
      faults: {
        onRequest: ({ actor, resource }) =>
          actor.startsWith('controller') && resource.resource === 'configmaps'
            ? { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'no configmaps') }
            : undefined,
      },
    })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    expect(await condition()).toMatchObject({ status: 'True', message: expect.stringContaining('ConfigMap agent ') })
  })
})

async function condition(): Promise<{ readonly status: string; readonly message: string } | undefined> {
  return (await stage.rollout()).status?.conditions?.find(({ type }) => type === 'ConfigUnversioned')
}

function configReads(log: RequestLog): readonly string[] {
  return log.sent().flatMap(({ what }) => (/\/(configmaps|secrets)\b/.test(what) ? [what] : []))
}

function configMap(name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: stageKey.namespace, name },
    data: { a: 'b' },
  } as unknown as KubeObject
}
