import type { CanaryStatus, Rollout } from '@tranche/api-schema'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const STEPS = 3
const acts = fc.array(fc.constantFrom('rollout', 'release', 'executor', 'native', 'time'), { maxLength: 60 })
const words = fc.oneof(
  fc.constantFrom<Partial<CanaryStatus>>(
    { currentStepState: 'StepReady' },
    { currentStepState: 'Completed' },
    { currentStepState: 'StepUpgrade' },
  ),
  fc.integer({ min: 1, max: STEPS }).map((nextStepIndex): Partial<CanaryStatus> => ({ nextStepIndex })),
)
/** The pass over the Rollout between whose read and write the action falls. */
const moment = fc.nat(12)

describe('an action that a user writes between the read and the write of a pass', () => {
  it('is carried out, or put back with a warning, and never lost (G10)', () => {
    const ends = { carriedOut: 0, putBack: 0 }
    fc.assert(
      fc.property(acts, words, moment, fc.boolean(), (all, word, at, paused) => {
        const fake = releasing(paused)
        for (const act of all) actFor(fake, act)
        for (let pass = 0; pass < at; pass++) passAll(fake)
        const before = fake.warnings.length
        let written: Rollout | undefined
        fake.passRollout(() => {
          fake.setCanaryStatus(word)
          written = fake.rollout
        })
        const status = written?.status
        if (status?.canaryStatus === undefined || isOwnWord(written!, word)) return
        settle(fake)
        if (isHeeded(fake.rollout!, written!)) ends.carriedOut++
        else ends.putBack++
        if (!isHeeded(fake.rollout!, written!))
          expect(fake.warnings.length, JSON.stringify([status, fake.rollout?.status])).toBeGreaterThan(before)
      }),
      { numRuns: 150 },
    )
    expect(Math.min(ends.carriedOut, ends.putBack)).toBeGreaterThan(5)
  })

  it('approves the step that was paused when it was written, and no other (G10)', () => {
    fc.assert(
      fc.property(acts, moment, (all, at) => {
        const fake = releasing(true)
        for (const act of all) actFor(fake, act)
        for (let pass = 0; pass < at; pass++) passAll(fake)
        let stepped = 0
        fake.passRollout(() => {
          stepped = fake.rollout?.status?.canaryStatus?.currentStepIndex ?? 0
          fake.setCanaryStatus({ currentStepState: 'StepReady' })
        })
        settle(fake)
        // Every step but the last waits for approval: one approval ends one of these pauses.
        expect(fake.rollout?.status?.canaryStatus?.currentStepIndex ?? 0).toBeLessThanOrEqual(Math.max(1, stepped) + 1)
      }),
      { numRuns: 100 },
    )
  })
})

function releasing(paused: boolean): FakeCluster {
  const pause = paused ? {} : { duration: 5 }
  const fake = new FakeCluster({ steps: [{ replicas: 1, pause }, { replicas: '60%', pause }, { replicas: '100%' }] })
  settle(fake)
  fake.setImage('v2')
  return fake
}

function actFor(fake: FakeCluster, act: string): void {
  if (act === 'rollout') fake.passRollout()
  if (act === 'release') fake.passRelease()
  if (act === 'executor') fake.passExecutor()
  if (act === 'native') fake.actNatively()
  fake.nowMs += act === 'time' ? 2_000 : 10
}

function passAll(fake: FakeCluster): void {
  for (const act of ['rollout', 'release', 'executor', 'native']) actFor(fake, act)
}

/** The written value equals the stored one: it cannot be told apart from our own, so it requests nothing. */
function isOwnWord({ status }: Rollout, word: Partial<CanaryStatus>): boolean {
  if (word.currentStepState !== undefined) return word.currentStepState === status?.currentStepState
  const { currentStepIndex = 0, nextStepIndex } = status?.canaryStatus ?? {}
  return nextStepIndex === currentStepIndex + 1 || nextStepIndex === -1 || nextStepIndex === currentStepIndex
}

/** An approval leaves the paused step; a jump arrives, or has moved on from there. */
function isHeeded(now: Rollout, written: Rollout): boolean {
  const { status } = written
  const asked = status!.canaryStatus!
  const there = now.status?.canaryStatus?.currentStepIndex ?? 0
  if (status!.phase !== 'Progressing') return false
  if (asked.currentStepState === 'StepReady' && status!.currentStepState === 'StepPaused') return there > asked.currentStepIndex
  if (asked.currentStepState !== status!.currentStepState) return false
  return asked.nextStepIndex >= 1 && there >= asked.nextStepIndex
}
