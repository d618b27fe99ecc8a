import type { HeldRevision, RolloutStatus } from '@tranche/api-schema'
import { HELD_REVISIONS_ANNOTATION } from '@tranche/kube-types'
import { planRollout } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../../test/toys/toy-cluster.ts'

const hold: HeldRevision = { digest: 'd1', revision: 'hash-v9', reason: 'Failed', at: '2026-01-01T00:00:00Z' }

describe('the annotation that keeps what is held', () => {
  it('is written before the status that first says so, and goes once nothing is held', () => {
    const alone: string[] = []
    const toy = aborted((its) => {
      if ((its.rollout?.status?.heldRevisions ?? []).length > 0 && keptBy(its) === undefined)
        alone.push(planRollout(its.rolloutView()!).kind)
    })
    expect(alone).toEqual([])
    expect(JSON.parse(keptBy(toy)!)).toMatchObject([{ revision: 'hash-v2', reason: 'Aborted' }])
    toy.act({ id: 'r', type: 'retry', revision: 'hash-v2' })
    settle(toy)
    expect([toy.rollout?.status?.heldRevisions, keptBy(toy)]).toEqual([undefined, undefined])
  })

  it.each<[string, { readonly text?: string; readonly status?: (status: RolloutStatus) => RolloutStatus | undefined }, readonly string[]]>([
    ['counts where the status has lost every field of ours', { status: lost }, ['hash-v9']],
    ['counts where there is no status, as after a backup', { status: () => undefined }, ['hash-v9']],
    ['counts for nothing beside a status that remembers by itself', {}, []],
    [
      'counts with its last ten where it has more',
      {
        text: JSON.stringify(Array.from({ length: 12 }, (_, at) => ({ ...hold, digest: `d${at}`, revision: `hash-${at}` }))),
        status: lost,
      },
      Array.from({ length: 10 }, (_, at) => `hash-${at + 2}`),
    ],
    ['is as none where it is no JSON', { text: '{', status: lost }, []],
    ['is as none where it is no list of held revisions', { text: '[{"revision":"hash-v9"}]', status: lost }, []],
  ])('%s', (_title, { text = JSON.stringify([hold]), status = (same) => same }, want) => {
    const toy = new ToyCluster()
    settle(toy)
    const rollout = toy.rollout!
    const annotations = { ...rollout.metadata.annotations, [HELD_REVISIONS_ANNOTATION]: text }
    const { status: _, ...rest } = rollout
    const left = status(rollout.status!)
    toy.rollout = { ...rest, metadata: { ...rollout.metadata, annotations }, ...(left && { status: left }) }
    settle(toy)
    expect((toy.rollout?.status?.heldRevisions ?? []).map(({ revision }) => revision)).toEqual(want)
  })

  it('is heeded before the status remembers again: a pass that reads a status without it releases nothing (G12)', () => {
    const toy = aborted()
    toy.setImage('v2')
    const rollout = toy.rollout!
    toy.rollout = { ...rollout, status: lost(rollout.status!) }
    const plans: string[] = []
    settle(toy, () => plans.push(planRollout(toy.rolloutView()!).kind))
    expect(plans).toContain('writeStatus')
    expect(toy.pods.map(({ hash }) => hash)).not.toContain('hash-v2')
    expect(toy.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', reason: 'RevisionHeld' }))
  })
})

/** As a write under the definitions of OpenKruise leaves it. */
function lost({ phase, message, canaryStatus, currentStepIndex, currentStepState, observedGeneration }: RolloutStatus): RolloutStatus {
  return { phase, message, canaryStatus, currentStepIndex, currentStepState, observedGeneration } as RolloutStatus
}

/** Version v2 was taken back. */
function aborted(look: (toy: ToyCluster) => void = () => {}): ToyCluster {
  const toy = new ToyCluster({ steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] })
  settle(toy)
  toy.setImage('v2')
  settle(toy)
  toy.act({ id: 'a', type: 'abort' })
  settle(toy, () => look(toy))
  return toy
}

function keptBy({ rollout }: ToyCluster): string | undefined {
  return rollout?.metadata.annotations?.[HELD_REVISIONS_ANNOTATION]
}
