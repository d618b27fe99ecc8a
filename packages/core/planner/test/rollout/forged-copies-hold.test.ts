import { PINNED_CONFIG_ANNOTATION } from '@tranche/config'
import { forgedCopiesHold, type RolloutView, templateDigest } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'

describe('copies that another client has replaced', () => {
  it.each<[sentence: string, pins: string, forged: readonly string[], names: string | null]>([
    ['hold a rollback to a template that names them', 'ConfigMap/a=a-1', ['ConfigMap/a-1'], 'ConfigMap a-1 (copy of a)'],
    ['hold none where the template names others', 'ConfigMap/a=a-2', ['ConfigMap/a-1'], null],
    ['hold none where they are of another kind', 'Secret/a=a-1', ['ConfigMap/a-1'], null],
    ['hold none where there are none', 'ConfigMap/a=a-1', [], null],
  ])('%s', (_, pins, forged, names) => {
    const hold = forgedCopiesHold(aView(pins, true), forged)
    if (names === null) return expect(hold).toBeNull()
    expect(hold).toMatchObject({ reason: 'RollbackInProgress', holdsRollback: true, message: expect.stringContaining(names) })
  })

  it('hold no release, because it gets other copies', () => {
    expect(forgedCopiesHold(aView('ConfigMap/a=a-1', false), ['ConfigMap/a-1'])).toBeNull()
  })
})

/** A release whose template names these copies, and is blocked where it is rolled back. */
function aView(pins: string, isRolledBack: boolean): RolloutView {
  const fake = new FakeCluster()
  settle(fake)
  const view = fake.rolloutView()!
  const daemonSet = structuredClone(view.daemonSet!)
  const { template } = daemonSet.spec
  Object.assign(template, { metadata: { ...template.metadata, annotations: { [PINNED_CONFIG_ANNOTATION]: pins } } })
  const held = { digest: templateDigest(template), revision: 'hash-v2', reason: 'Aborted', at: '2026-01-01T00:00:00Z' } as const
  const status = { ...view.rollout.status!, ...(isRolledBack && { heldRevisions: [held] }) }
  return { ...view, daemonSet, rollout: { ...view.rollout, status } }
}
