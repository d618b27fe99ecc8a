import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { type Applier, applyByClient, applyByForce, applyByServer, type Manifest, replaceWhole, takeOver } from './appliers.ts'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, runs } from './looks.ts'
import { setStage, type Stage, type StageOptions } from './stage.ts'
import { daemonSetManifest, rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const NODES = 10
const steps = [{ replicas: '20%', pause: {} }, { replicas: '100%' }]

/** Manifests as they are in Git, with the image of this tag. */
function manifests(tag: string, strategyType: 'RollingUpdate' | 'OnDelete'): readonly Manifest[] {
  return [daemonSetManifest({ strategyType }, tag), rolloutManifest({ steps })] as readonly Manifest[]
}

/** Applies all manifests every second until the tag is released, and approves paused steps. @returns status codes of the answers */
async function applyEverySecond(applier: Applier, git: readonly Manifest[]): Promise<ReadonlySet<number>> {
  const statuses = new Set<number>()
  for (let second = 0; second < 300; second++) {
    for (const manifest of git) statuses.add((await applier(stage, manifest)).status)
    await stage.pass(1000)
    const { phase, canaryStatus } = (await stage.rollout()).status ?? {}
    if (canaryStatus?.currentStepState === 'StepPaused') await stage.approve()
    if (second > 2 && phase === 'Healthy' && (await stage.pods()).every((pod) => runs(pod, 'v2'))) return statuses
  }
  throw new Error(`the release did not end: ${JSON.stringify((await stage.rollout()).status)}`)
}

/** A write to the DaemonSet since the start of the story, with the fields that would show drift. */
interface Written {
  readonly by: string
  readonly type: string
  readonly lost: readonly string[]
}

/** Records every write to the DaemonSet: its strategy, and which of Tranche's annotations it removed. */
function watchDaemonSet(): readonly Written[] {
  const written: Written[] = []
  stage.simulator.server.observe(({ kind, object, previous, actor }) => {
    if (kind !== 'DaemonSet') return
    const { updateStrategy } = object['spec'] as { readonly updateStrategy: { readonly type: string } }
    const before = Object.keys(previous?.metadata.annotations ?? {})
    const lost = before.filter((key) => ours.includes(key) && object.metadata.annotations?.[key] === undefined)
    written.push({ by: actor.name, type: updateStrategy.type, lost })
  })
  return written
}

const ours: readonly string[] = Object.values(daemonSetAnnotations)

const revisions = async (): Promise<number> =>
  (await stage.client.list(resourcePaths.controllerRevisions, { namespace: stageKey.namespace })).items.length

/** Expects one complete release: each node once, no Tranche annotation removed by the applier, no second revision of the new version. */
async function expectOneRelease(written: readonly Written[]): Promise<void> {
  expectKept(stage)
  expect(deletions(stage)).toBe(NODES)
  expect(await revisions()).toBe(2)
  expect(written.filter(({ by, lost }) => by === 'gitops' && lost.length > 0)).toEqual([])
  expect((await condition(stage, 'Stalled'))?.status).toBe('False')
  expect((await condition(stage, 'Ready'))?.status).toBe('True')
}

const ways: Readonly<Record<string, Applier>> = {
  'client-side apply': applyByClient,
  'server-side apply': applyByServer,
  'server-side apply by force': applyByForce,
  PUT: replaceWhole,
}

/** Sets a stage whose manifests are owned by the applier. */
async function setAppliedStage(applier: Applier, options: StageOptions): Promise<readonly Written[]> {
  stage = await setStage({ nodes: NODES, steps, ...options })
  for (const manifest of manifests('v1', options.strategyType ?? 'RollingUpdate')) {
    if (applier === applyByServer) await takeOver(stage, manifest)
    await applier(stage, manifest)
  }
  await stage.pass(5_000)
  return watchDaemonSet()
}

describe('manifests that are applied every second during a release', () => {
  it.each(Object.entries(ways))('by %s cause no drift if Git says OnDelete', async (_way, applier) => {
    const written = await setAppliedStage(applier, { strategyType: 'OnDelete', admission: 'inProcess' })
    expect(await applyEverySecond(applier, manifests('v2', 'OnDelete'))).toEqual(new Set([200]))
    await expectOneRelease(written)
    expect(new Set(written.map(({ type }) => type))).toEqual(new Set(['OnDelete']))
  })

  const patching = Object.entries(ways).filter(([way]) => way !== 'PUT')
  it.each(patching)('by %s cause no drift without admission either, if Git says OnDelete', async (_way, applier) => {
    const written = await setAppliedStage(applier, { strategyType: 'OnDelete' })
    expect(await applyEverySecond(applier, manifests('v2', 'OnDelete'))).toEqual(new Set([200]))
    await expectOneRelease(written)
    expect(new Set(written.map(({ type }) => type))).toEqual(new Set(['OnDelete']))
  })

  it('by PUT are corrected by the controller without admission: it restores each time what they dropped', async () => {
    const written = await setAppliedStage(replaceWhole, { strategyType: 'OnDelete' })
    expect(await applyEverySecond(replaceWhole, manifests('v2', 'OnDelete'))).toEqual(new Set([200]))
    await expectOneRelease(written.filter(({ by }) => by !== 'gitops'))
    expect(new Set(written.map(({ type }) => type))).toEqual(new Set(['OnDelete']))
    const puts = written.filter(({ by }) => by === 'gitops').length
    expect(written.filter(({ by }) => by === 'controller-1').length).toBeLessThanOrEqual(2 * puts + 2)
  })

  it.each(Object.entries(ways))('by %s start no native rollout with admission, if Git says RollingUpdate', async (_way, applier) => {
    const written = await setAppliedStage(applier, { admission: 'inProcess' })
    expect(await applyEverySecond(applier, manifests('v2', 'RollingUpdate'))).toEqual(new Set([200]))
    await expectOneRelease(written)
    const first = written.findIndex(({ type }) => type === 'OnDelete')
    const types = written.slice(first).map(({ type }) => type)
    expect(types.lastIndexOf('OnDelete')).toBe(types.indexOf('RollingUpdate') - 1)
  })

  it('by server-side apply conflict with the controller over the strategy without admission, if Git says RollingUpdate', async () => {
    await setAppliedStage(applyByServer, {})
    const { status, text } = await applyByServer(stage, manifests('v2', 'RollingUpdate')[0]!)
    expect(status).toBe(409)
    expect(JSON.parse(text)).toMatchObject({ details: { causes: [{ field: '.spec.updateStrategy.type' }] } })
    expect(deletions(stage)).toBe(0)
  })
})
