import { afterEach, expect, it } from 'vitest'
import { untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]

/** Emoji of two UTF-16 units each, after a beginning of even or odd length: a cut at any length splits one of them for one of both. */
const emoji = (beginning: string, odd: number): string => `${beginning}${'x'.repeat(odd)}${'😀'.repeat(400)}`

function act(action: object): Promise<void> {
  return stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } })
}

/** Counts the controller's requests other than watches. Each takes 10 ms, so that time passes where a pass follows another at once. */
function countRequests(): Map<string, number> {
  const counts = new Map<string, number>()
  stage.disturb({
    onRequest({ actor, verb, resource, subresource }) {
      if (!actor.includes('controller') || verb === 'watch') return undefined
      const name = [verb, resource.resource, subresource ?? ''].join(' ').trim()
      counts.set(name, (counts.get(name) ?? 0) + 1)
      return { kind: 'delay', ms: 10, when: 'before' }
    },
  })
  return counts
}

it.each([0, 1])(
  'writes nothing at rest while a revision is blocked whose image has a character at the cut (%i)',
  async (odd) => {
    stage = await setStage({ nodes: 4, maxUnavailable: 2, steps })
    const counts = countRequests()
    const image = emoji('v2', odd)
    await stage.setImage(image)
    await untilPausedAt(stage, 1)
    await act({ id: 'stop', type: 'abort', expectedStep: 1 })
    await untilReleased(stage, 'v1')
    await stage.setImage(image)
    await stage.pass(20_000)
    const { status } = await stage.rollout()
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'RevisionHeld' }))
    counts.clear()
    await stage.pass(60_000)
    expect(Object.fromEntries(counts)).toEqual({})
  },
  60_000,
)

it('writes nothing at rest while an action is answered whose id is half a character', async () => {
  stage = await setStage({ nodes: 4, maxUnavailable: 2, steps })
  const counts = countRequests()
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await act({ id: 'x\ud83d', type: 'jump', step: 7, expectedStep: 1, reason: 'y\ud83d' })
  await stage.pass(20_000)
  expect((await stage.rollout()).status?.lastAction).toMatchObject({ id: 'x\uFFFD', result: 'Refused' })
  counts.clear()
  await stage.pass(60_000)
  expect(Object.fromEntries(counts)).toEqual({})
})

const failures = [{ action: 'Pause' }, { action: 'Continue' }, { action: 'Pause', maxFailedNodes: 4 }, { action: 'Rollback' }] as const

it.each(failures.flatMap((failure) => [0, 1].map((odd) => ({ failure, odd }))))(
  'writes few statuses while the message of a container has a character at the cut: $failure, $odd',
  async ({ failure, odd }) => {
    stage = await setStage({ nodes: 4, maxUnavailable: 2, steps, policy: { failure } })
    const counts = countRequests()
    await stage.setImage(emoji('v2-bad-pull', odd))
    await stage.pass(120_000)
    counts.clear()
    await stage.pass(60_000)
    expect(Math.max(0, ...counts.values()), JSON.stringify(Object.fromEntries(counts))).toBeLessThanOrEqual(4)
  },
  60_000,
)
