import { sizeLimits } from '@tranche/api-schema'
import { planRollout, type RolloutPlan, wantedAllowance } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'

const long = 'x'.repeat(250_000)

function released(): FakeCluster {
  const fake = new FakeCluster({ nodes: 4, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  return fake
}

describe('what a user wrote does not fill a status', () => {
  it('by the name of a policy: name, message and conditions are cut', () => {
    const view = released().rolloutView()!
    const held: RolloutPlan = planRollout({ ...view, policy: { kind: 'missing', name: long } })
    const spec = held.kind === 'updateRelease' ? held.spec : view.release!.spec
    expect(spec.tranche?.hold?.message.length ?? 0).toBeLessThanOrEqual(sizeLimits.message)
    const release = { ...view.release!, spec }
    const plan = planRollout({ ...view, release, policy: { kind: 'missing', name: long } })
    expect(plan).toMatchObject({ kind: 'writeStatus', status: { policy: { name: expect.stringMatching(/^x+…$/) as unknown } } })
    expect(JSON.stringify(plan).length).toBeLessThan(64 * 1_024)
  })

  it('by the hold of a hand-written BatchRelease: reason, id and message are cut', () => {
    const view = released().releaseView()!
    const tranche = { ...view.release.spec.tranche, hold: { reason: long, id: long, message: long } }
    const wanted = wantedAllowance({ ...view, release: { ...view.release, spec: { ...view.release.spec, tranche } } })
    if (wanted.kind !== 'stop') throw new Error(wanted.kind)
    expect(wanted.message).toHaveLength(sizeLimits.message)
    expect(wanted.holds).toEqual([{ reason: expect.any(String) as unknown, id: expect.any(String) as unknown }])
    expect(wanted.holds[0]!.reason).toHaveLength(sizeLimits.reason)
    expect(wanted.holds[0]!.id).toHaveLength(sizeLimits.identity)
  })
})
