import type { RolloutStatus } from '@tranche/api-schema'
import { planRollout } from '@tranche/planner'
import { expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { act } from '../../../../../test/fakes/settle.ts'

/** A plan in mid-release, after a user has changed the status. */
function planAfter(change: (status: RolloutStatus) => RolloutStatus) {
  const fake = new FakeCluster({ nodes: 4 })
  fake.setImage('v2')
  for (let round = 0; round < 8; round++) act(fake)
  const view = fake.rolloutView()!
  const { status } = view.rollout
  return { status: status!, plan: planRollout({ ...view, rollout: { ...view.rollout, status: change(status!) } }) }
}

it.each([2 ** 53, -(2 ** 53), 2 ** 63, 1.5])(
  'a status with the number %d is written again with that of the BatchRelease, before anything else',
  (number) => {
    const { status, plan } = planAfter((before) => ({ ...before, releaseGeneration: number }))
    expect(plan).toEqual({ kind: 'writeStatus', status, warning: null })
  },
)

it.each([
  ['observedGeneration', (before: RolloutStatus) => ({ ...before, observedGeneration: 2 ** 53 })],
  ['canaryNumber', (before: RolloutStatus) => ({ ...before, canaryNumber: 2 ** 53 })],
] as const)('such a number in %s is left out, and known again after the next pass', (name, change) => {
  const { status, plan } = planAfter(change)
  const { [name]: _number, ...rest } = status
  expect(plan).toEqual({ kind: 'writeStatus', status: rest, warning: null })
})

it('such a number in the observed generation becomes that of the DaemonSet', () => {
  const { status, plan } = planAfter((before) => ({
    ...before,
    canaryStatus: { ...before.canaryStatus!, observedWorkloadGeneration: 2 ** 53 },
  }))
  expect(plan).toEqual({ kind: 'writeStatus', status, warning: null })
})
