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

async function wish(type: string): Promise<void> {
  const action = JSON.stringify({ id: `${type}-1`, type, by: 'alice', expectedStep: 1 })
  await stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.action]: action } } })
}
