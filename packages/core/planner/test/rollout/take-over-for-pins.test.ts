import { discoverRevisions, takeOverForPins, type RolloutView } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

type DaemonSet = NonNullable<RolloutView['daemonSet']>

const onDelete = { op: 'replace', path: '/spec/updateStrategy/type', value: 'OnDelete' }
const remembered = {
  op: 'add',
  path: '/metadata/annotations/rollouts.kruise.io~1daemonset-original-update-strategy',
  value: 'RollingUpdate',
}

describe('a Rollout whose config changes', () => {
  it('takes over the strategy in the patch that changes the template, and remembers the original', () => {
    const leave = takeOverForPins(withDaemonSet({ type: 'RollingUpdate' }))
    expect(leave.kind).toBe('now')
    expect(leave).toMatchObject({ operations: expect.arrayContaining([onDelete, remembered]) })
    expect(JSON.stringify(leave)).not.toContain('resourceVersion')
  })

  it('says that a release begins, as admission does, where there is admission', () => {
    expect(JSON.stringify(takeOverForPins({ ...viewOf(), strategyScope: 'release' }))).toContain('in-progressing')
    expect(JSON.stringify(takeOverForPins({ ...viewOf(), strategyScope: 'binding' }))).not.toContain('in-progressing')
  })

  it.each<[sentence: string, view: RolloutView, kind: string]>([
    ['changes nothing while it is disabled', withRollout({ spec: { ...viewOf().rollout.spec, disabled: true } }), 'none'],
    ['changes nothing while it is deleted', withRollout({ metadata: { ...viewOf().rollout.metadata, deletionTimestamp: 'now' } }), 'none'],
    ['changes nothing while it is disabled with Complete, and no release runs', completing(viewOf()), 'none'],
    ['pins while it is disabled with Complete, and a template is not released', completing(unreleased()), 'now'],
    ['changes nothing while it is disabled with Rollback, and a template is not released', completing(unreleased(), 'Rollback'), 'none'],
    ['changes nothing without a DaemonSet', { ...viewOf(), daemonSet: undefined }, 'none'],
    ['changes nothing before it is bound', withDaemonSet({ annotations: {} }), 'none'],
    [
      'changes nothing of a DaemonSet that is bound to another Rollout',
      withDaemonSet({ annotations: { 'tranche.dev/rollout': 'other' } }),
      'none',
    ],
    ['changes nothing of a DaemonSet that is being deleted', withDaemonSet({ deletionTimestamp: 'now' }), 'none'],
    ['changes nothing while something else prevents acting on it', { ...viewOf(), schemaGap: 'old' }, 'none'],
    ['waits while a release of the present template counts who changes the strategy', midRelease({}), 'later'],
    ['takes over from the release of another template', midRelease({ canary: 'other' }), 'now'],
    ['waits until the DaemonSet controller knows the present template', midRelease({ canary: 'other', observed: 0 }), 'later'],
    ['waits while the release of another template is being deleted', midRelease({ canary: 'other', isDeleted: true }), 'later'],
    ['waits while a release that vanished is in charge', { ...midRelease({ canary: 'other' }), release: undefined }, 'later'],
  ])('%s', (_sentence, view, kind) => {
    expect(takeOverForPins(view).kind).toBe(kind)
  })
})

function viewOf(): RolloutView {
  const fake = new FakeCluster()
  settle(fake)
  return fake.rolloutView()!
}

/** The template v2 is there, and its release has not begun. */
function unreleased(): RolloutView {
  const fake = new FakeCluster()
  settle(fake)
  fake.setImage('v2')
  fake.actNatively()
  return fake.rolloutView()!
}

function completing(view: RolloutView, onDelete = 'Complete'): RolloutView {
  const { metadata, spec } = view.rollout
  const annotations = { ...metadata.annotations, 'tranche.dev/on-delete': onDelete }
  return { ...view, rollout: { ...view.rollout, metadata: { ...metadata, annotations }, spec: { ...spec, disabled: true } } }
}

function withRollout(change: Partial<RolloutView['rollout']>): RolloutView {
  const view = viewOf()
  return { ...view, rollout: { ...view.rollout, ...change } as RolloutView['rollout'] }
}

interface MidRelease {
  /** Revision that the release in charge releases. @default the one of the present template */
  readonly canary?: string
  readonly observed?: number
  readonly isDeleted?: boolean
}

/** A release is in charge, and the strategy is `RollingUpdate`. */
function midRelease({ canary, observed, isDeleted = false }: MidRelease): RolloutView {
  const control = JSON.stringify({ apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', name: 'x', uid: 'r1' })
  const annotations = { 'tranche.dev/rollout': viewOf().rollout.metadata.name, 'batchrelease.rollouts.kruise.io/control-info': control }
  const view = withDaemonSet({ type: 'RollingUpdate', annotations })
  const { namespace, name, uid } = view.rollout.metadata
  const daemonSet = view.daemonSet as DaemonSet
  const found = discoverRevisions({ ...view, daemonSet, lastStable: undefined })
  const present = found.kind === 'found' ? found.canary : ''
  const ownerReferences = [{ apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', name, uid, controller: true }]
  const metadata = { namespace, name, uid: 'r1', ownerReferences, ...(isDeleted && { deletionTimestamp: 'now' }) }
  const release = { metadata, spec: { tranche: { canaryRevision: canary ?? present } } } as unknown as NonNullable<RolloutView['release']>
  return {
    ...view,
    release,
    daemonSet: { ...daemonSet, ...(observed !== undefined && { status: { observedGeneration: observed } }) } as DaemonSet,
  }
}

interface Change {
  readonly type?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly deletionTimestamp?: string
}

function withDaemonSet({ type, annotations, deletionTimestamp }: Change): RolloutView {
  const view = viewOf()
  const daemonSet = view.daemonSet as DaemonSet
  const metadata = {
    ...daemonSet.metadata,
    ...(type !== undefined && { annotations: { 'tranche.dev/rollout': view.rollout.metadata.name } }),
    ...(annotations !== undefined && { annotations }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
  }
  const spec = { ...daemonSet.spec, ...(type !== undefined && { updateStrategy: { ...daemonSet.spec.updateStrategy, type } }) }
  return { ...view, daemonSet: { ...daemonSet, metadata, spec } as DaemonSet }
}
