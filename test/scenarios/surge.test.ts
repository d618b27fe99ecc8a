import { afterEach, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { expectKept } from './expect-kept.ts'
import { setStage, type Stage } from './stage.ts'
import { rolloutManifest } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const typeNow = async (): Promise<string | undefined> => (await stage.daemonSet()).spec.updateStrategy?.type

it('a DaemonSet in a surge becomes OnDelete only when no node has two pods, and is held for its maxSurge (BudgetZero)', async () => {
  stage = await setStage({ nodes: 6, withRollout: false, annotations: { 'sim.tranche.dev/start-ms': '3000' } })
  await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } } } })
  await stage.setImage('v2')
  await stage.until('it surges', async () => (await doubled()) > 0)
  await stage.client.create(resourcePaths.rollouts, rolloutManifest({}) as never)
  await stage.until('it is taken over', async () => {
    const surging = (await doubled()) > 0
    const type = await typeNow()
    if (surging) expect(type).toBe('RollingUpdate')
    return type === 'OnDelete'
  })
  expect(await doubled()).toBe(0)
  await stage.setImage('v3')
  await stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'BudgetZero')
  await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 2 } } } })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v3')
  expectKept(stage)
})

it('a DaemonSet that declares OnDelete keeps it through a newer template and a new release (G11 X11)', async () => {
  stage = await setStage({ nodes: 6, strategyType: 'OnDelete', admission: 'inProcess' })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  for (const tag of ['v3', 'v4']) {
    await stage.setImage(tag)
    await untilNodesOn(stage, tag, 1)
    await untilPausedAt(stage, 1)
    await stage.approve()
    await stage.until(`${tag} is released and the DaemonSet is detached`, async () => {
      expect(await typeNow()).toBe('OnDelete')
      return (await stage.rollout()).status?.phase === 'Healthy' && (await stage.release()) === undefined
    })
    expect(await nodesOn(stage, tag)).toHaveLength(6)
  }
  expectKept(stage)
})

/** Number of nodes with two standing pods. */
async function doubled(): Promise<number> {
  const standing = (await stage.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const nodes = standing.map(({ spec }) => spec?.nodeName).filter((node) => node !== undefined)
  return nodes.length - new Set(nodes).size
}
