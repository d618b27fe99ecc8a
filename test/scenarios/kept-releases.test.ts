import { resourcePaths } from '@tranche/kube-client'
import { afterEach, expect, it } from 'vitest'
import { events } from './hands.ts'
import { condition, untilNodesOn, untilPausedAt } from './looks.ts'
import { keepRelease } from './lose-release.ts'
import { stageKey } from './stage-objects.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

it.each([
  [
    'waits for a new version',
    async () => {
      await stage.approve()
      await untilNodesOn(stage, 'v2', 8)
      await stage.pass(60_000)
      await stage.setImage('v3')
    },
  ],
  ['is disabled', () => stage.patchRollout({ spec: { disabled: true } })],
  ['is deleted', () => stage.client.delete(resourcePaths.rollouts, stageKey)],
  [
    'names another DaemonSet',
    async () => {
      const { spec } = await stage.daemonSet()
      const metadata = { namespace: 'demo', name: 'other' }
      await stage.client.create(resourcePaths.daemonSets, { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec } as never)
      await stage.patchRollout({ spec: { workloadRef: { name: 'other' } } })
    },
  ],
])(
  'a Rollout that %s names the finalizers that keep its BatchRelease, and stalls after a minute',
  async (_how, end) => {
    stage = await setStage({ nodes: 8, maxUnavailable: 4, steps: [{ replicas: '25%', pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const letGo = await keepRelease(stage)
    await end()
    await stage.pass(600_000)
    expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'True', reason: 'ForeignControl' })
    const message = 'finalizers of other programs keep it (example.com/keep); remove them once their work is done'
    expect((await stage.rollout()).status?.message).toContain(message)
    expect((await events(stage)).filter(({ reason }) => reason === 'ForeignControl')).toHaveLength(1)
    await letGo()
    await stage.pass(1_000)
    await stage.until('its BatchRelease is gone', async () => (await stage.release())?.metadata.deletionTimestamp === undefined)
  },
  60_000,
)
