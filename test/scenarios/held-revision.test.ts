import { afterEach, expect, it } from 'vitest'
import { rolloutAnnotations } from '@tranche/kube-types'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const isHeld = async (): Promise<boolean> => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld'

it('deletes nothing for a version that was aborted, though it is applied again and again and leaders die, until a retry (G12, G7)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await wish('abort')
  await untilReleased(stage, 'v1')

  for (const leader of ['controller-1', 'controller-2']) {
    await stage.setImage('v2')
    await stage.until('it is held', isHeld)
    const deleted = deletions(stage)
    stage.program(leader).kill()
    await stage.startController(`controller-${Number(leader.at(-1)) + 1}`)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(deleted)
    expect([await nodesOn(stage, 'v2'), await isHeld()]).toEqual([[], true])
    await stage.setImage('v1')
    await untilReleased(stage, 'v1')
  }

  await stage.setImage('v2')
  await stage.until('it is held', isHeld)
  await wish('retry')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('opens nothing for a version that was just aborted, though a leader wakes that was about to and knows of no abort (F9, G9, G12)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const { process } = stage.program('controller-1')
  process.freezeBefore(({ method, path }) => method === 'GET' && path.includes('/rollouts/'))
  await stage.approve()
  await stage.until('the leader is about to open batch 2', () => process.isFrozen())

  const heal = stage.disturb({
    onRequest: ({ actor, verb, resource }) =>
      actor === 'controller-2' && verb === 'patch' && resource.resource === 'batchreleases' ? { kind: 'cut', when: 'before' } : undefined,
  })
  await wish('abort', 2)
  // With one controller to begin with nobody stands for election: both act, always.
  await stage.startController('controller-2')
  await stage.until('the abort is accepted', async () => (await stage.rollout()).status?.heldRevisions?.length === 1)
  stage.program('controller-2').kill()
  heal()
  expect((await stage.release())?.spec.tranche?.hold).toBeUndefined()
  const deleted = deletions(stage)
  process.thaw()
  await untilReleased(stage, 'v1')
  // Of the five that were updated, and of no other.
  expect(deletions(stage) - deleted).toBe(5)
  expectKept(stage)
})

async function wish(type: string, expectedStep = 1): Promise<void> {
  const action = JSON.stringify({ id: `${type}-1`, type, by: 'alice', expectedStep })
  await stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.action]: action } } })
}
