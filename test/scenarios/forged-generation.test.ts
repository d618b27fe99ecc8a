import { resourcePaths } from '@tranche/kube-client'
import { afterEach, expect, it } from 'vitest'
import { nodesOn, untilNodesOn } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

it.each([
  ['a pause', () => stage.patchRollout({ spec: { strategy: { paused: true } } })],
  ['an abort', () => stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"stop","type":"abort"}' } } })],
])(
  'a BatchRelease that claims to follow a later Rollout does not keep %s from it (G9, G10)',
  async (what, stop) => {
    stage = await setStage({ nodes: 20, maxUnavailable: 1, steps: [{ replicas: '100%' }] })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    const body = { spec: { tranche: { rolloutGeneration: 999_999 } } }
    await stage.client.patch(resourcePaths.batchReleases, stageKey, { type: 'merge', body })
    await stop()
    await stage.pass(60_000)
    const { status, metadata } = await stage.rollout()
    if (what === 'a pause') expect(status?.observedGeneration).toBe(metadata.generation)
    else expect(status?.lastAction).toMatchObject({ id: 'stop', result: 'Accepted' })
    expect((await nodesOn(stage, 'v2')).length).toBeLessThan(6)
    expect((await stage.release())?.spec.tranche?.rolloutGeneration ?? 0).toBeLessThan(999_999)
  },
  60_000,
)
