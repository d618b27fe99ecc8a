import type { HeldRevision, RolloutStatus } from '@tranche/api-schema'
import { HELD_REVISIONS_ANNOTATION } from '@tranche/kube-types'
import { planRollout } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { holdsText } from '../../src/rollout/actions/kept-status.ts'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const hold: HeldRevision = { digest: 'd1', revision: 'hash-v9', reason: 'Failed', at: '2026-01-01T00:00:00Z' }

describe('the annotation that keeps holds', () => {
  it('is written before the status that first reports them, and removed once nothing is held', () => {
    const alone: string[] = []
    const fake = aborted((its) => {
      if ((its.rollout?.status?.heldRevisions ?? []).length > 0 && keptBy(its) === undefined)
        alone.push(planRollout(its.rolloutView()!).kind)
    })
    expect(alone).toEqual([])
    expect(JSON.parse(keptBy(fake)!)).toMatchObject([{ revision: 'hash-v2', reason: 'Aborted' }])
    fake.act({ id: 'r', type: 'retry', revision: 'hash-v2' })
    settle(fake)
    expect([fake.rollout?.status?.heldRevisions, keptBy(fake)]).toEqual([undefined, undefined])
  })

  it.each<[string, { readonly text?: string; readonly status?: (status: RolloutStatus) => RolloutStatus | undefined }, readonly string[]]>([
    ['counts where the status has lost every Tranche field', { status: lost }, ['hash-v9']],
    ['counts where there is no status, as after a backup', { status: () => undefined }, ['hash-v9']],
    ['is ignored beside a status that has its fields', {}, []],
    [
      'counts with its last ten where it has more',
      {
        text: JSON.stringify(Array.from({ length: 12 }, (_, at) => ({ ...hold, digest: `d${at}`, revision: `hash-${at}` }))),
        status: lost,
      },
      Array.from({ length: 10 }, (_, at) => `hash-${at + 2}`),
    ],
    ['is ignored where it is invalid JSON', { text: '{', status: lost }, []],
    ['is ignored if it is no list of blocked revisions', { text: '[{"revision":"hash-v9"}]', status: lost }, []],
  ])('%s', (_title, { text = JSON.stringify([hold]), status = (same) => same }, want) => {
    const fake = new FakeCluster()
    settle(fake)
    const rollout = fake.rollout!
    const annotations = { ...rollout.metadata.annotations, [HELD_REVISIONS_ANNOTATION]: text }
    const { status: _, ...rest } = rollout
    const left = status(rollout.status!)
    fake.rollout = { ...rest, metadata: { ...rollout.metadata, annotations }, ...(left && { status: left }) }
    settle(fake)
    expect((fake.rollout?.status?.heldRevisions ?? []).map(({ revision }) => revision)).toEqual(want)
  })

  it('counts for the digest with restored config, where definitions have dropped it alone from the status (G12)', () => {
    const fake = aborted()
    const held = fake.rollout!.status!.heldRevisions!
    const text = JSON.stringify(held.map((one) => ({ ...one, digestWithRestoredConfig: 'd2' })))
    fake.rollout = {
      ...fake.rollout!,
      metadata: { ...fake.rollout!.metadata, annotations: { ...fake.rollout!.metadata.annotations, [HELD_REVISIONS_ANNOTATION]: text } },
    }
    settle(fake)
    expect(JSON.parse(keptBy(fake)!)).toMatchObject([{ revision: 'hash-v2', digestWithRestoredConfig: 'd2' }])
  })

  it('keeps what identifies the template, also with the config that a rollback restored', () => {
    const held = { ...hold, digestWithRestoredConfig: 'd2', reverted: true }
    expect(JSON.parse(holdsText({ heldRevisions: [held] })!)).toEqual([{ ...hold, digestWithRestoredConfig: 'd2' }])
  })

  it('counts before the status has the holds again: a pass with a status without them releases nothing (G12)', () => {
    const fake = aborted()
    fake.setImage('v2')
    const rollout = fake.rollout!
    fake.rollout = { ...rollout, status: lost(rollout.status!) }
    const plans: string[] = []
    settle(fake, () => plans.push(planRollout(fake.rolloutView()!).kind))
    expect(plans).toContain('writeStatus')
    expect(fake.pods.map(({ hash }) => hash)).not.toContain('hash-v2')
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', reason: 'RevisionHeld' }))
  })
})

/** The status after a write under the definitions of OpenKruise. */
function lost({ phase, message, canaryStatus, currentStepIndex, currentStepState, observedGeneration }: RolloutStatus): RolloutStatus {
  return { phase, message, canaryStatus, currentStepIndex, currentStepState, observedGeneration } as RolloutStatus
}

/** Version v2 was rolled back. */
function aborted(look: (fake: FakeCluster) => void = () => {}): FakeCluster {
  const fake = new FakeCluster({ steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  fake.act({ id: 'a', type: 'abort' })
  settle(fake, () => look(fake))
  return fake
}

function keptBy({ rollout }: FakeCluster): string | undefined {
  return rollout?.metadata.annotations?.[HELD_REVISIONS_ANNOTATION]
}
