import { afterEach, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '30%', pause: {} }, { replicas: '100%' }]
const act = (action: object): Promise<void> =>
  stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } })
const untilHeld = (): Promise<void> => stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')

it.each(['inProcess', 'none'] as const)(
  'holds a template that was taken back, though its revision was pruned meanwhile (admission %s, G12)',
  async (admission) => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, admission })
    await stage.patchDaemonSet({ spec: { revisionHistoryLimit: 0 } })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await act({ id: 'stop', type: 'abort' })
    await untilReleased(stage, 'v1')
    const isPruned = async (): Promise<boolean> =>
      (await stage.client.list(resourcePaths.controllerRevisions, { namespace: stageKey.namespace })).items.length === 1
    await stage.until('its revision is pruned', isPruned)
    const before = deletions(stage)
    await stage.setImage('v2')
    await untilHeld()
    await stage.pass(120_000)
    expect([deletions(stage), await nodesOn(stage, 'v1')]).toEqual([before, expect.objectContaining({ length: 10 })])
    expectKept(stage)
  },
)

it('counts what leaks while a revision is held, and takes it back with the stable template (G12)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, admission: 'inProcess' })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await act({ id: 'stop', type: 'abort' })
  await untilReleased(stage, 'v1')
  await stage.setImage('v2')
  await untilHeld()
  const [pod] = await stage.pods()
  const before = deletions(stage)
  await stage.client.delete(resourcePaths.pods, { namespace: stageKey.namespace, name: pod?.metadata.name ?? '' })
  await stage.until('it is counted', async () => (await stage.rollout()).status?.message?.includes('1 of 10 nodes run it') === true)
  expect(deletions(stage)).toBe(before)
  await stage.setImage('v1')
  await untilReleased(stage, 'v1')
  expect(deletions(stage) - before).toBe(1)
  expectKept(stage)
})

it('puts the stable template back once, though a Git tool applies the other at every moment and leaders die (G7, G12)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, controllers: ['controller-1', 'controller-2'], admission: 'inProcess' })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await act({ id: 'stop', type: 'abort' })
  await stage.until('the template is back', async () => imageOf(await stage.daemonSet()).endsWith(':v1'))
  stage.program('controller-1').kill()
  await stage.setImage('v2')
  await untilHeld()
  await stage.pass(120_000)
  expect(imageOf(await stage.daemonSet())).toMatch(/:v2$/)
  const ours = stage.recording().filter(({ kind, actor }) => kind === 'DaemonSet' && actor?.startsWith('controller') === true)
  const templates = ours.map(({ o }) => (o as { readonly template?: string }).template)
  expect(templates.filter((template, at) => at > 0 && template === templates[0] && template !== templates[at - 1])).toHaveLength(1)
  expectKept(stage)
})

function imageOf(daemonSet: unknown): string {
  const { spec } = daemonSet as {
    readonly spec?: { readonly template: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } } }
  }
  return spec?.template.spec?.containers?.[0]?.image ?? ''
}
