import type { BatchRelease, Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { asNextVersion, bringDefinitions } from './next-version.ts'
import { drive, type Program, setStage, type Stage } from './stage.ts'
import { policyKey, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

/** When an upgrade begins; the fault bench plays many more moments. In milliseconds after the new template, and how long it takes from one process to the next. */
const moments = fc.sample(fc.noBias(fc.tuple(fc.nat(25_000), fc.nat(4_000), fc.boolean())), { seed: 20, numRuns: 4 })

describe('a rolling upgrade of all programs', () => {
  it.each(moments)(
    'that begins %i ms after the new template, with %i ms between two processes, breaks nothing',
    async (startMs, gapMs, kills) => {
      stage = await setStage({
        seed: 1 + startMs,
        nodes: 10,
        steps: [{ replicas: 2, pause: { duration: 5 } }, { replicas: '50%', pause: { duration: 5 } }, { replicas: '100%' }],
        controllers: ['controller-1', 'controller-2'],
        executors: ['executor-1', 'executor-2'],
      })
      await stage.setImage('v2')
      await stage.pass(startMs)
      for (const kind of ['controller', 'executor'] as const) {
        for (const index of [1, 2]) {
          // As a Deployment does it: one more is ready before one goes.
          const start = kind === 'controller' ? stage.startController : stage.startExecutor
          await start(`${kind}-new-${index}`)
          await end(stage.program(`${kind}-${index}`), kills)
          await stage.pass(gapMs)
        }
      }
      await untilReleased(stage, 'v2')
      expectKept(stage)
    },
  )
})

describe('a version that knows less than the one before it', () => {
  it('goes on with the release, and keeps what it does not know', async () => {
    await upgradeUntilPaused()
    await downgrade()
    await stage.approve()
    await untilPausedAt(stage, 2)
    const { status } = (await stage.rollout()) as Seen
    expect([status?.tomorrow, status?.canaryStatus?.tomorrow]).toEqual(['controller-next', 'controller-next'])
    // Its own counts are made anew each time, and whole.
    const release = (await stage.release()) as Seen | undefined
    const policy = await stage.client.get<Seen>(resourcePaths.releasePolicies, policyKey)
    expect(policy.status?.tomorrow).toBe('controller-next')
    expect([release?.status?.tomorrow, release?.status?.flight?.tomorrow]).toEqual(['controller-next', 'executor-next'])
    await stage.approve()
    await untilReleased(stage, 'v2')
    expect(((await stage.rollout()) as Seen).status?.tomorrow).toBe('controller-next')
    expectKept(stage)
  })

  it('goes on with the release where the older definitions came back with it, and with them nothing of the newer version', async () => {
    await upgradeUntilPaused()
    await bringDefinitions(stage.client, 'present')
    await downgrade()
    await stage.approve()
    await untilPausedAt(stage, 2)
    expect(JSON.stringify([await stage.rollout(), await stage.release()])).not.toContain('-next')
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

describe('a Rollout that was lost in mid-release, with its BatchRelease, and is restored from a backup', () => {
  it.each([
    ['with its status', true],
    ['without its status, as most tools restore', false],
  ])('goes on where it stood within the guarantees, %s', async (_how, withStatus) => {
    const { rollout } = await loseEverything()
    await restore(resourcePaths.rollouts, rollout, withStatus)
    await startReplacements()
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(2)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('is held where a BatchRelease came back too, which belongs to nobody, until that is deleted', async () => {
    const { rollout, release } = await loseEverything()
    const before = deletions(stage)
    await restore(resourcePaths.rollouts, rollout, false)
    await restore(resourcePaths.batchReleases, release, false)
    await startReplacements()
    await stage.until('it says so', async () => (await condition(stage, 'Stalled'))?.reason === 'ForeignControl')
    expect((await condition(stage, 'Stalled'))?.message).toContain('delete that BatchRelease first')
    expect(deletions(stage)).toBe(before)
    await drive(stage.clock, stage.client.delete(resourcePaths.batchReleases, stageKey))
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

interface Seen extends Pick<Rollout, 'metadata'> {
  readonly status?: FutureFields & { readonly canaryStatus?: FutureFields; readonly flight?: FutureFields }
}

/** What only the next version writes: who wrote it. */
interface FutureFields {
  readonly tomorrow?: string
}

/** The next version has begun a release and waits in its first step. */
async function upgradeUntilPaused(): Promise<void> {
  stage = await setStage({
    nodes: 6,
    steps: [{ replicas: 2, pause: {} }, { replicas: 4, pause: {} }, { replicas: '100%' }],
    policy: { maxUnavailable: 1 },
    tap: (identity, exchange) => (identity.endsWith('next') ? asNextVersion(exchange, identity) : exchange),
  })
  await bringDefinitions(stage.client, 'next')
  for (const identity of ['controller-1', 'executor-1']) await end(stage.program(identity), false)
  await stage.startController('controller-next')
  await stage.startExecutor('executor-next')
  await stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body: { spec: { maxUnavailable: 2 } } })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
}

async function downgrade(): Promise<void> {
  await startReplacements()
  for (const identity of ['controller-next', 'executor-next']) await end(stage.program(identity), false)
}

async function end(program: Program, kills: boolean): Promise<void> {
  if (kills) program.kill()
  else await drive(stage.clock, program.stop())
}

/** In the pause of the first step, as when somebody deletes the definitions: nobody of ours is there to answer. @returns what was saved */
async function loseEverything(): Promise<{ readonly rollout: Rollout; readonly release: BatchRelease }> {
  stage = await setStage({ nodes: 10 })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const saved = { rollout: await stage.rollout(), release: (await stage.release())! }
  for (const identity of ['controller-1', 'executor-1']) await end(stage.program(identity), false)
  for (const resource of [resourcePaths.rollouts, resourcePaths.batchReleases]) {
    await stage.client.patch(resource, stageKey, { type: 'merge', body: { metadata: { finalizers: null } } })
    await drive(stage.clock, stage.client.delete(resource, stageKey))
  }
  await stage.pass(5_000)
  expect(await stage.release()).toBeUndefined()
  return saved
}

async function startReplacements(): Promise<void> {
  await stage.startController('controller-2')
  await stage.startExecutor('executor-2')
}

/** What the server made is left out, owners among it: they have other uids now. */
async function restore(
  resource: Parameters<Stage['client']['create']>[0],
  object: Rollout | BatchRelease,
  withStatus: boolean,
): Promise<void> {
  const { namespace, name, labels, annotations } = object.metadata
  const metadata = { namespace, name, labels, annotations }
  const { status, ...rest } = object
  await stage.client.create<KubeObject>(resource, { ...rest, metadata } as never)
  if (withStatus) await stage.client.patch(resource, stageKey, { type: 'merge', body: { status } }, { subresource: 'status' })
}
