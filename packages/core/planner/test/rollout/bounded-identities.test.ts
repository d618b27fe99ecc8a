import type { RolloutStatus } from '@tranche/api-schema'
import { planRollout } from '@tranche/planner'
import { expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'

/** A cluster at the pause of a step, and what a user has made of its status. */
function forged(change: (status: RolloutStatus) => RolloutStatus) {
  const fake = new FakeCluster({ nodes: 4 })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  const status = fake.rollout!.status!
  fake.rollout = { ...fake.rollout!, status: change(status) }
  return { fake, status, plan: planRollout(fake.rolloutView()!) }
}

const long = 'x'.repeat(64)

function forgeRelease(fake: FakeCluster): void {
  const release = fake.release!
  const tranche = { ...release.spec.tranche!, canaryRevision: long, stableRevision: long }
  fake.release = { ...release, spec: { ...release.spec, tranche } }
}

it.each<[string, (status: RolloutStatus) => RolloutStatus]>([
  ['canaryRevision of 64 characters', (status) => ({ ...status, canaryStatus: { ...status.canaryStatus!, canaryRevision: long } })],
  [
    'canaryRevision with characters of JSON',
    (status) => ({ ...status, canaryStatus: { ...status.canaryStatus!, canaryRevision: 'v2","type":"promote' } }),
  ],
  ['stableRevision of 64 characters', (status) => ({ ...status, canaryStatus: { ...status.canaryStatus!, stableRevision: long } })],
])('a %s, which no BatchRelease can hold, becomes that of the BatchRelease, before anything else', (_name, change) => {
  const { plan, status } = forged(change)
  expect(plan).toEqual({ kind: 'writeStatus', status: { ...status, acceptedActions: {} }, warning: null })
})

it('a stable revision that no BatchRelease can hold is forgotten', () => {
  const { plan, status } = forged((before) => ({ ...before, stableRevision: long }))
  const { stableRevision: _long, ...rest } = status
  expect(plan).toEqual({ kind: 'writeStatus', status: { ...rest, acceptedActions: {} }, warning: null })
})

it('the id of a retry that no BatchRelease can hold is forgotten, and other accepted actions stay', () => {
  const promote = { id: 'a', full: false }
  const { plan, status } = forged((before) => ({ ...before, acceptedActions: { promote, retry: 'x'.repeat(257) } }))
  expect(plan).toEqual({ kind: 'writeStatus', status: { ...status, acceptedActions: { promote } }, warning: null })
})

it('a step below 0 becomes 0, and the release begins again with its first step', () => {
  const { plan, fake, status } = forged((before) => ({ ...before, canaryStatus: { ...before.canaryStatus!, currentStepIndex: -3 } }))
  expect(plan).toMatchObject({ kind: 'writeStatus', status: { canaryStatus: { ...status.canaryStatus, currentStepIndex: 0 } } })
  settle(fake)
  expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  expect(fake.rollout?.status?.canaryStatus?.canaryRevision).toBe('hash-v2')
})

it.each<[string, (fake: FakeCluster) => void]>([
  ['the BatchRelease is gone', (fake) => void (fake.release = undefined)],
  ['the BatchRelease says what they are', () => undefined],
  ['the BatchRelease was forged as well', forgeRelease],
])('a release whose revisions were forged ends all the same, where %s', (_where, also) => {
  const { fake } = forged((status) => ({
    ...status,
    stableRevision: long,
    canaryStatus: { ...status.canaryStatus!, canaryRevision: long, stableRevision: long },
  }))
  also(fake)
  settle(fake)
  fake.act({ id: 'go', type: 'promote' })
  settle(fake)
  expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', canaryStatus: { canaryRevision: 'hash-v2' } })
})
