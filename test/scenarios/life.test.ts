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

/** Start of an upgrade after the new template, and time between two processes, in milliseconds. The fault bench plays many more moments. */
const moments = fc.sample(fc.noBias(fc.tuple(fc.nat(25_000), fc.nat(4_000), fc.boolean())), { seed: 20, numRuns: 4 })

describe('a rolling upgrade of all programs', () => {
  it.each(moments)(
    'that starts %i ms after the new template, with %i ms between two processes, breaks nothing',
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
          // Like a Deployment: the next process is ready before one ends.
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

describe('an older version after a downgrade', () => {
  it('continues the release, and keeps unknown fields', async () => {
    await upgradeUntilPaused()
    await downgrade()
    await stage.approve()
    await untilPausedAt(stage, 2)
    const { status } = (await stage.rollout()) as Seen
    expect([status?.tomorrow, status?.canaryStatus?.tomorrow]).toEqual(['controller-next', 'controller-next'])
    // Its own counts are complete, because they are rebuilt each time.
    const release = (await stage.release()) as Seen | undefined
    const policy = await stage.client.get<Seen>(resourcePaths.releasePolicies, policyKey)
    expect(policy.status?.tomorrow).toBe('controller-next')
    expect([release?.status?.tomorrow, release?.status?.flight?.tomorrow]).toEqual(['controller-next', 'executor-next'])
    await stage.approve()
    await untilReleased(stage, 'v2')
    expect(((await stage.rollout()) as Seen).status?.tomorrow).toBe('controller-next')
    expectKept(stage)
  })

  it('continues the release if the older definitions come back with it and drop the fields of the newer version', async () => {
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
  ])('continues from the same state within the guarantees, %s', async (_how, withStatus) => {
    const { rollout } = await loseEverything()
    await restore(resourcePaths.rollouts, rollout, withStatus)
    await startReplacements()
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(2)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('is held if a BatchRelease without an owner was restored too, until that is deleted', async () => {
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

/** Fields that only the next version writes, with the name of the writer. */
interface FutureFields {
  readonly tomorrow?: string
}

/** The next version has started a release and waits in its first step. */
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

/**
 * Deletes both objects in the pause of the first step while no program runs, as if the definitions had been deleted. @returns the saved
 * objects
 */
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

/** Creates the object without the fields that the server sets. Owners are among them, because their uids have changed. */
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
