import { parseTime } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { waitOf } from '../../src/index.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'

/** API servers accept it as a date-time, so anyone who may write a status can put it there. */
const NO_TIME = '2026-01-01T00:00:00x0Z'

function pausedFor(duration: number): FakeCluster {
  const fake = new FakeCluster({ steps: [{ replicas: '40%', pause: { duration } }, { replicas: '100%' }] })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  return fake
}

describe('a timed pause whose start in the status is no time', () => {
  it('does not end early, and lasts in full from now on', () => {
    const fake = pausedFor(3_600)
    const editedMs = fake.nowMs
    fake.setCanaryStatus({ lastUpdateTime: NO_TIME })
    settle(fake)
    const { canaryStatus } = fake.rollout!.status!
    expect(canaryStatus).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    expect(parseTime(canaryStatus?.lastUpdateTime)).toBeGreaterThanOrEqual(editedMs)
    fake.nowMs += 3_000_000
    settle(fake)
    expect(fake.rollout!.status?.canaryStatus).toMatchObject({ currentStepIndex: 1 })
    fake.nowMs += 600_000
    settle(fake)
    expect(fake.rollout!.status?.phase).toBe('Healthy')
  })
})

describe('a final settling whose start in the status is no time', () => {
  it('does not end early', () => {
    const fake = new FakeCluster({ steps: [{ replicas: '100%' }] })
    settle(fake)
    fake.setImage('v2')
    let isEdited = false
    settle(fake, () => {
      if (isEdited || fake.rollout!.status?.settlingUntil === undefined) return
      isEdited = true
      const { status } = fake.release!
      fake.release = { ...fake.release!, status: { ...status, canaryStatus: { ...status!.canaryStatus!, batchReadyTime: NO_TIME } } }
      const editedMs = fake.nowMs
      fake.passRelease()
      fake.passRollout()
      expect(fake.rollout!.status?.phase).toBe('Progressing')
      expect(parseTime(fake.release.status?.canaryStatus?.batchReadyTime)).toBeGreaterThanOrEqual(editedMs)
    })
    expect(isEdited).toBe(true)
    expect(fake.rollout!.status?.phase).toBe('Healthy')
  })
})

describe('a condition whose times are none', () => {
  it('gets new ones, and counts as no wait for a person until then', () => {
    const fake = pausedFor(3_600)
    fake.pause(true)
    settle(fake)
    const { status } = fake.rollout!
    const conditions = status!.conditions!.map((one) => ({ ...one, lastUpdateTime: NO_TIME, lastTransitionTime: NO_TIME }))
    fake.rollout = { ...fake.rollout!, status: { ...status, conditions } as typeof status }
    expect(waitOf(fake.rollout, fake.rollout.status!)).toBeNull()
    settle(fake)
    const times = fake.rollout.status!.conditions!.flatMap(({ lastUpdateTime, lastTransitionTime }) => [lastUpdateTime, lastTransitionTime])
    expect(times.map(parseTime)).not.toContain(null)
    expect(waitOf(fake.rollout, fake.rollout.status!)).not.toBeNull()
  })
})
