import { planRefusals } from '@tranche/admission'
import type { ReleasePolicySpec, Rollout } from '@tranche/api-schema'
import type { ControllerRevision } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { rollout } from './objects.ts'

const deny: ReleasePolicySpec = { failure: { onReapply: 'Deny' } }
const status = { heldRevisions: [{ revision: 'bad', digest: 'd', reason: 'Failed' }] } as unknown as NonNullable<Rollout['status']>
const held: Rollout = { ...rollout(), status }

function revision(hash: string, refused?: string): ControllerRevision {
  const labels = { 'controller-revision-hash': hash, ...(refused !== undefined && { 'tranche.dev/refused': refused }) }
  return { metadata: { name: `agent-${hash}`, uid: hash, resourceVersion: '1', labels }, revision: 1 }
}

function marks(of: Rollout, policy: ReleasePolicySpec | null, ...revisions: readonly ControllerRevision[]) {
  return planRefusals({ rollout: of, policy, revisions }).map((refusal) => [refusal.revision.metadata.name, refusal.isRefused])
}

describe('revisions are marked (G12)', () => {
  it('when they are held and the policy has Deny', () => {
    expect(marks(held, deny, revision('good'), revision('bad'))).toEqual([['agent-bad', true]])
  })

  it('once', () => {
    expect(marks(held, deny, revision('good'), revision('bad', 'true'))).toEqual([])
  })

  it.each<[string, Rollout, ReleasePolicySpec | null]>([
    ['a retry has ended the hold', rollout(), deny],
    ['the policy has another value', held, { failure: { onReapply: 'Hold' } }],
    ['there is no policy', held, null],
    ['the Rollout is disabled', { ...held, spec: { ...held.spec, disabled: true } }, deny],
    ['the Rollout is being deleted', { ...held, metadata: { ...held.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }, deny],
  ])('no longer when %s', (_, of, policy) => {
    expect(marks(of, policy, revision('good'), revision('bad', 'true'))).toEqual([['agent-bad', false]])
    expect(marks(of, policy, revision('good'), revision('bad'))).toEqual([])
  })
})
