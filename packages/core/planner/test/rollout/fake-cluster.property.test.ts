import type { RolloutStep } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { strategyOf } from '@tranche/planner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectSameWithoutMessages } from './without-messages.ts'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { act, type Actor, actOnce, happen, plans, setBudget, setSteps, stories, type Story } from './stories.ts'

/** A natively updated node turns NotReady: that is a verdict, and a quiet cluster does not lift it. */
const failedByItsNode: Story = {
  scope: 'binding',
  steps: [{ replicas: '100%' }],
  happenings: [
    { kind: 'image', image: 'v2' },
    act('actNatively', 1),
    act('passRollout', 2),
    act('passRelease', 2),
    act('passRollout', 1),
    act('passRelease', 1),
    { kind: 'strategy' },
    act('passRollout', 2),
    act('actNatively', 2),
    { kind: 'node', node: 'node-0', state: 'notReady' },
    act('passRelease', 6),
    act('passRollout', 2),
  ],
  last: [{ replicas: '40%', pause: {} }, { replicas: '100%' }],
}

/** Every program acts, ten times in turn. */
const tenRounds = Array.from({ length: 10 }, () => [
  act('actNatively', 1),
  act('passRollout', 2),
  act('passRelease', 3),
  act('passExecutor', 2),
]).flat()

/** The plan at the end no longer has the step at which the abort comes. */
const abortedAtAnotherPlan: Story = {
  scope: 'binding',
  steps: plans[1]!,
  happenings: [
    { kind: 'image', image: 'v2' },
    ...tenRounds,
    { kind: 'action', action: { id: 'a', type: 'approve', expectedStep: 1 } },
    ...tenRounds,
    { kind: 'action', action: { id: 'b', type: 'abort', expectedStep: 2 } },
  ],
  last: [{ replicas: '100%' }],
}

describe('planRollout and planBatchRelease, whatever happens and wherever they are interrupted', () => {
  it('end the release once the cluster is quiet, write no more, and leave nothing behind (G6, G7, G10, G12)', () => {
    fc.assert(
      fc.property(stories, ({ scope, steps, happenings, last }) => {
        const fake = new FakeCluster({ scope, steps })
        settle(fake)
        for (const happening of happenings) happen(fake, happening, actKeepingPromises)
        quiesce(fake, last)
        settle(fake, () => checkPromises(fake))
        for (let round = 0; round < 20 && fake.rollout?.status?.phase !== 'Healthy'; round++) {
          if (fake.rollout?.status?.currentStepState === 'StepPaused') fake.setCanaryStatus({ currentStepState: 'StepReady' })
          if (waitsForRetry(fake)) fake.act({ id: `calm-${round}`, type: 'retry' })
          settle(fake, () => checkPromises(fake))
        }
        expect(fake.rollout?.status?.phase, JSON.stringify([fake.rollout?.status, fake.release, fake.daemonSet, fake.pods])).toBe('Healthy')
        expect(fake.oldPods()).toEqual([])
        expect(fake.release).toBeUndefined()
        expect(strategyOf(fake.daemonSet)).toBe(scope === 'binding' ? 'OnDelete' : 'RollingUpdate')
        expect(Object.keys(fake.daemonSet.metadata.annotations ?? {}).toSorted()).toEqual(
          [...(scope === 'binding' ? [daemonSetAnnotations.originalUpdateStrategy] : []), daemonSetAnnotations.rollout].toSorted(),
        )
        expect(fake.rollout?.status?.observedGeneration).toBe(fake.rollout?.metadata.generation)
      }),
      { numRuns: 250, examples: [[failedByItsNode], [abortedAtAnotherPlan]] },
    )
  })

  it('decide the same whatever the messages of the objects say', () => {
    fc.assert(
      fc.property(stories, ({ scope, steps, happenings }) => {
        const fake = new FakeCluster({ scope, steps })
        settle(fake)
        fake.setImage('v2')
        for (const happening of happenings) {
          happen(fake, happening, actKeepingPromises)
          expectSameWithoutMessages(fake)
        }
        settle(fake, () => expectSameWithoutMessages(fake))
      }),
      { numRuns: 60 },
    )
  })

  it('detach from the DaemonSet when the Rollout is deleted, and freeze a half-released one, or end it first (G6, G12)', () => {
    fc.assert(
      fc.property(stories, ({ scope, steps, happenings }) => {
        const fake = new FakeCluster({ scope, steps })
        for (const happening of happenings) happen(fake, happening, actKeepingPromises)
        for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad: false })
        setBudget(fake, 2)
        declareOnDelete(fake)
        fake.deleteRollout()
        settle(fake, () => checkPromises(fake))
        expect([fake.rollout, fake.release]).toEqual([undefined, undefined])
        const keys = Object.keys(fake.daemonSet.metadata.annotations ?? {}).toSorted()
        const frozen = [daemonSetAnnotations.originalUpdateStrategy, daemonSetAnnotations.frozen].toSorted()
        expect([[], frozen]).toContainEqual(keys)
        // Once it is frozen the user's manifest rules, and may continue natively.
        const byUser = happenings.some(({ kind }) => kind === 'strategy')
        if (keys.length > 0 && !byUser) expect(strategyOf(fake.daemonSet)).toBe('OnDelete')
      }),
      { numRuns: 250 },
    )
  })

  it('write only transitions that a state machine of docs/reference/release-phases.md lists', () => {
    fc.assert(
      fc.property(stories, ({ scope, steps, happenings, last }) => {
        const fake = new FakeCluster({ scope, steps })
        settle(fake)
        for (const happening of happenings) happen(fake, happening, actKeepingPromises)
        quiesce(fake, last)
        settle(fake)
        expect(fake.unlisted).toEqual([])
      }),
      // The same stories in every run: findings of longer searches are added to the lists.
      { numRuns: 400, seed: 1 },
    )
  })
})

function actKeepingPromises(fake: FakeCluster, actor: Actor): void {
  const before = fake.daemonSet
  actOnce(fake, actor)
  checkPromises(fake)
  if (actor === 'actNatively') return
  const [was, is] = [before, fake.daemonSet].map(
    (daemonSet) => daemonSet.metadata.annotations?.[daemonSetAnnotations.originalUpdateStrategy],
  )
  if (was !== undefined && is !== undefined) expect(is).toBe(was)
  if (strategyOf(before) === 'OnDelete' && strategyOf(fake.daemonSet) !== 'OnDelete') expect(fake.oldPods()).toEqual([])
}

/** The version is held, or has failed: a person decides. */
function waitsForRetry({ rollout }: FakeCluster): boolean {
  const stalled = rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')
  return stalled?.reason === 'RevisionHeld' || stalled?.reason === 'ReleaseFailed'
}

/** Invariants at every moment. */
function checkPromises(fake: FakeCluster): void {
  const { rollout, release } = fake
  const status = rollout?.status
  const record = release?.status?.flight
  const acknowledged = (status?.observedGeneration ?? 0) >= (rollout?.metadata.generation ?? 0)
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing')
  if (rollout?.spec.strategy.paused === true && acknowledged && progressing?.reason === 'Paused') expect(record?.state).not.toBe('open')
  if (record?.state === 'open' && record.limit < 1) throw new Error('a record is open without a budget')
  if (status !== undefined) expect(status.message).not.toBe('')
  // G12: nothing is deleted for a blocked revision once the BatchRelease has the hold; each template is restored once per
  // action.
  const knows = release !== undefined && release.status?.observedGeneration === release.metadata.generation
  if (knows && release.spec.tranche?.hold !== undefined) expect(record?.state).not.toBe('open')
  expect(fake.reverts.length).toBe(new Set(fake.reverts).size)
  expect(new Set(status?.answeredActions).size).toBe(status?.answeredActions?.length ?? 0)
}

/** A user who has changed the strategy more than once sees the message, and declares `OnDelete`. */
function declareOnDelete(fake: FakeCluster): void {
  if (!(daemonSetAnnotations.controlInfo in (fake.daemonSet.metadata.annotations ?? {})) || strategyOf(fake.daemonSet) === 'OnDelete')
    return
  const updateStrategy = { ...fake.daemonSet.spec.updateStrategy, type: 'OnDelete' }
  fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, updateStrategy } })
}

function quiesce(fake: FakeCluster, steps: RolloutStep[]): void {
  declareOnDelete(fake)
  for (const name of ['node-0', 'node-1', ...fake.nodes.keys()]) fake.nodes.set(name, { ready: true, bad: false })
  fake.mishap = 'none'
  setBudget(fake, 2)
  fake.editRollout((spec) => ({ ...spec, disabled: false, strategy: { ...spec.strategy, paused: false } }))
  setSteps(fake, steps)
}
