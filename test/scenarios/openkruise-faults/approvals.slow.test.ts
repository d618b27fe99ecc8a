import { afterEach, expect, it } from 'vitest'
import type { Rollout } from '@tranche/api-schema'
import { expectKept } from '../expect-kept.ts'
import { untilReleased } from '../looks.ts'
import { setStage, type Stage } from '../stage.ts'

let stage: Stage
afterEach(() => stage.end())

/** In four quarters: 1,020 approvals. */
const RELEASES = 17
const STEPS = 16

it.each([1, 2, 3, 4])(
  'each of 1,000 approvals that race with status writes of the controller takes effect once: quarter %i (X18, W19, G10)',
  {
    timeout: 120_000,
  },
  async (quarter) => {
    stage = await setStage({ nodes: 1, steps: Array.from({ length: STEPS }, () => ({ replicas: '100%', pause: {} })) })
    // Leaves time for another client between a read and the write that is based on it.
    stage.disturb({
      onRequest: ({ actor, subresource, count }) =>
        actor === 'controller-1' && subresource === 'status' ? { kind: 'delay', ms: (count * 7) % 23, when: 'before' } : undefined,
    })
    const pauses = countPauses(stage)
    // Each quarter has other delays.
    let sent = (quarter - 1) * RELEASES * (STEPS - 1)
    const sentBefore = sent
    pauses.onPause = () => {
      sent++
      // A change that makes the controller write a status comes shortly before, together with, or after the approval.
      const failureThreshold = sent % 2
      stage.clock.setTimer((sent * 3) % 31, () => void stage.patchRollout({ spec: { strategy: { canary: { failureThreshold } } } }))
      stage.clock.setTimer((sent * 5) % 41, () => void stage.approve())
    }
    for (let release = 0; release < RELEASES; release++) {
      await stage.setImage(`v${release + 2}`)
      await stage.until('the steps are over', () => pauses.seen.length === (release + 1) * (STEPS - 1), 600_000)
      await untilReleased(stage, `v${release + 2}`)
    }
    const expected = Array.from({ length: RELEASES }, () => Array.from({ length: STEPS - 1 }, (_, at) => at + 1)).flat()
    expect(sent - sentBefore).toBe(RELEASES * (STEPS - 1))
    expect(pauses.seen).toEqual(expected)
    expectKept(stage)
  },
)

/** The pauses of all steps in order, by step number. */
interface Pauses {
  readonly seen: number[]
  onPause: () => void
}

function countPauses({ simulator }: Stage): Pauses {
  const pauses: Pauses = { seen: [], onPause: () => {} }
  let before = ''
  simulator.server.observe(({ kind, object }) => {
    if (kind !== 'Rollout') return
    const { currentStepIndex, currentStepState } = (object as unknown as Rollout).status ?? {}
    const now = `${currentStepIndex} ${currentStepState}`
    const begins = now !== before && currentStepState === 'StepPaused'
    before = now
    if (!begins) return
    pauses.seen.push(currentStepIndex ?? 0)
    pauses.onPause()
  })
  return pauses
}
