import type { ReleasePolicySpec } from '@tranche/api-schema'
import { type ConfigHoldReason, configHoldReasons } from '@tranche/config'
import { isRollingBack, planRollout, stopsRelease, takeOverForPins, templateDigest } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { act, settle } from '../../../../../test/fakes/settle.ts'

describe('config that cannot be pinned', () => {
  it('holds a release, and its condition says why (ConfigUnpinned)', () => {
    const fake = inRelease()
    holdConfig(fake, 'CopyFailed')
    approve(fake)
    expect(fake.pods.filter(({ hash }) => hash === 'hash-v2')).toHaveLength(2)
    expect(conditionOf(fake, 'Stalled')).toMatchObject({ status: 'True', reason: 'ConfigUnpinned' })
    expect(conditionOf(fake, 'ConfigUnversioned')).toMatchObject({ status: 'True', reason: 'CopyFailed', message: text })
  })

  it.each(configHoldReasons)(
    'does not hold the rollback that an abort asks for, and the condition says why it is not pinned: %s (G9)',
    (reason) => {
      const fake = inRelease()
      holdConfig(fake, reason)
      settle(fake)
      fake.act({ id: 'a', type: 'abort' })
      const seen = new Set<string>()
      const messages = new Set<string>()
      settle(fake, () => {
        const { phase, rollbackFrom, message = '' } = fake.rollout?.status ?? {}
        messages.add(message)
        if (phase === 'Progressing' && rollbackFrom === 'hash-v2')
          seen.add(
            `${conditionOf(fake, 'Stalled')?.status} ${conditionOf(fake, 'ConfigUnversioned')?.reason}: ${conditionOf(fake, 'ConfigUnversioned')?.message}`,
          )
      })
      expect([...seen]).toEqual([`False ${reason}: ${text}`])
      expect([...messages].some((one) => one.startsWith('rolling back from revision hash-v2') && one.endsWith(text))).toBe(true)
      expect([fake.image(), fake.oldPods()]).toEqual(['v1', []])
      expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1', rollbackFrom: 'hash-v2' })
      expect(conditionOf(fake, 'Stalled')).toMatchObject({ status: 'True', reason: 'ConfigUnpinned' })
    },
  )

  it('holds a rollback where its pods would read content that was never pinned: the template is back, and no pod is deleted', () => {
    const fake = inRelease()
    fake.readsAs = (view) => ({ ...view, configHold: { reason: 'RollbackInProgress', message: text, holdsRollback: true } })
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect([fake.image(), fake.oldPods().length]).toEqual(['v1', 2])
    expect(conditionOf(fake, 'Stalled')).toMatchObject({ status: 'True', reason: 'ConfigUnpinned' })
    expect(conditionOf(fake, 'Stalled')?.message).toContain(text)
    expect(conditionOf(fake, 'ConfigUnversioned')).toMatchObject({ status: 'True', reason: 'RollbackInProgress', message: text })
    fake.readsAs = (view) => view
    settle(fake)
    expect(fake.oldPods()).toEqual([])
  })

  it('does not hold a rollback in which a user applies the stable template', () => {
    const fake = inRelease()
    holdConfig(fake, 'NoAnswer')
    fake.setImage('v1')
    settle(fake)
    expect(fake.oldPods()).toEqual([])
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1' })
  })

  it('does not hold a rollback to a revision that the history has lost, and that is stored again as the newest', () => {
    const fake = inRelease()
    const lost = fake.revisions.find(({ metadata }) => metadata.name === 'hash-v1')!
    const { template } = (lost.data as { readonly spec: { readonly template: Record<string, unknown> } }).spec
    fake.release = { ...fake.release!, status: { ...fake.release!.status!, stableTemplate: { revision: 'hash-v1', template } } }
    fake.revisions = fake.revisions.filter((one) => one !== lost)
    fake.nowMs += 60_000
    holdConfig(fake, 'CopyFailed')
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect([fake.image(), fake.oldPods()]).toEqual(['v1', []])
  })

  it('does not hold a rollback to the newest revision, from a release of an earlier one', () => {
    const fake = new FakeCluster({ steps: [{ replicas: '40%', pause: {} }, { replicas: '100%' }] })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    approve(fake)
    fake.setImage('v1')
    settle(fake)
    holdConfig(fake, 'CopyFailed')
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect([fake.image(), fake.oldPods()]).toEqual(['v2', []])
  })

  it('does not hold a rollback that began before', () => {
    const fake = inRelease()
    fake.act({ id: 'a', type: 'abort' })
    for (let round = 0; round < 100 && fake.rollout?.status?.rollbackFrom === undefined; round++) act(fake)
    holdConfig(fake, 'ReadByPods')
    settle(fake)
    expect([fake.image(), fake.oldPods(), fake.rollout?.status?.phase]).toEqual(['v1', [], 'Healthy'])
  })

  it('does not keep a version that failed, where the policy asks for a rollback', () => {
    const fake = inRelease({ failure: { action: 'Rollback' } })
    fake.latch({ action: 'Rollback' })
    holdConfig(fake, 'CopyFailed')
    settle(fake)
    expect([fake.image(), fake.oldPods(), fake.reverts.length]).toEqual(['v1', [], 1])
    expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed' }])
  })

  it('keeps a version that failed, where the policy asks for a pause', () => {
    const fake = inRelease()
    fake.latch({ action: 'Pause' })
    holdConfig(fake, 'CopyFailed')
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.heldRevisions]).toEqual(['v2', undefined])
  })

  it('holds a template that comes after a rollback', () => {
    const fake = inRelease()
    holdConfig(fake, 'CopyFailed')
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    fake.setImage('v3')
    settle(fake)
    expect(conditionOf(fake, 'Stalled')).toMatchObject({ status: 'True', message: expect.stringContaining('hash-v3 (v3) is held') })
    expect(fake.pods.map(({ hash }) => hash)).not.toContain('hash-v3')
  })

  it.each(['rollbackFrom', 'stableRevision'] as const)('holds a template that a forged status calls the stable one: %s', (forged) => {
    const fake = inRelease()
    holdConfig(fake, 'CopyFailed')
    fake.setImage('v3')
    settle(fake)
    const { status } = fake.rollout!
    const stableDigest = templateDigest(fake.daemonSet.spec.template)
    const canaryStatus = { ...status!.canaryStatus!, ...(forged === 'stableRevision' && { stableRevision: 'hash-v3' }) }
    fake.rollout = { ...fake.rollout!, status: { ...status!, phase: 'Progressing', rollbackFrom: 'x', stableDigest, canaryStatus } }
    settle(fake)
    expect(fake.pods.map(({ hash }) => hash)).not.toContain('hash-v3')
  })

  it('does not keep a retry from lifting the block of a template, whose config is pinned then', () => {
    const fake = inRelease()
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    fake.setImage('v2')
    holdConfig(fake, 'RollbackInProgress')
    settle(fake)
    expect(conditionOf(fake, 'Stalled')).toMatchObject({ status: 'True', reason: 'RevisionHeld' })
    expect(takeOverForPins(fake.rolloutView()!)).toEqual({ kind: 'later', until: 'rollback' })
    fake.act({ id: 'b', type: 'retry' })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ lastAction: { id: 'b', result: 'Accepted' } })
    expect(conditionOf(fake, 'Stalled')).toMatchObject({ status: 'True', reason: 'ConfigUnpinned' })
    expect(takeOverForPins({ ...fake.rolloutView()!, configHold: undefined }).kind).toBe('now')
  })

  it('does not hold a node that was left behind by a rollback', () => {
    const fake = inRelease()
    const left = fake.pods.find(({ hash }) => hash === 'hash-v2')!.node
    fake.nodes.set(left, { ready: false, bad: true })
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', rollbackFrom: 'hash-v2' })
    expect(fake.oldPods().map(({ node }) => node)).toEqual([left])
    holdConfig(fake, 'CopyFailed')
    settle(fake)
    expect(conditionOf(fake, 'Stalled')).toMatchObject({ status: 'True', reason: 'ConfigUnpinned' })
    fake.editRollout((spec) => ({ ...spec }))
    settle(fake)
    expect(fake.rollout?.status?.observedGeneration).toBe(fake.rollout?.metadata.generation)
    fake.nodes.set(left, { ready: true, bad: false })
    settle(fake)
    expect(fake.oldPods()).toEqual([])
  })

  it.each([
    ['of a new template', ['v2']],
    ['of an earlier template', ['v2', 'v1']],
  ])('holds a node that was left behind by a release %s', (_which, images) => {
    const fake = new FakeCluster({ steps: [{ replicas: '100%' }], maxUnavailable: 5 })
    settle(fake)
    for (const [at, image] of images.entries()) {
      if (at === images.length - 1) fake.nodes.set('node-4', { ready: false, bad: true })
      fake.setImage(image)
      settle(fake)
    }
    expect(fake.rollout?.status?.phase).toBe('Healthy')
    holdConfig(fake, 'CopyFailed')
    settle(fake)
    fake.nodes.set('node-4', { ready: true, bad: false })
    settle(fake)
    expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-4'])
  })

  it('holds a node left whose release begins again because its BatchRelease was deleted', () => {
    const fake = new FakeCluster({ steps: [{ replicas: '100%' }], maxUnavailable: 5 })
    settle(fake)
    fake.nodes.set('node-4', { ready: false, bad: true })
    fake.setImage('v2')
    settle(fake)
    fake.release = undefined
    settle(fake)
    expect(fake.release).toBeDefined()
    holdConfig(fake, 'CopyFailed')
    settle(fake)
    fake.nodes.set('node-4', { ready: true, bad: false })
    settle(fake)
    expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-4'])
  })

  it('does not change the template before the rollback is over', () => {
    const fake = inRelease()
    fake.act({ id: 'a', type: 'abort' })
    const kinds: string[] = []
    settle(fake, () => {
      const timing = takeOverForPins(fake.rolloutView()!)
      const kind = timing.kind === 'later' ? timing.until : timing.kind
      if (kinds.at(-1) !== kind) kinds.push(kind)
    })
    expect(kinds).toEqual(['rollback', 'now'])
  })

  it('does not delay an abort, from the hold of its version until its template is put back (G9)', () => {
    const fake = inRelease()
    fake.act({ id: 'a', type: 'abort' })
    const waiting: string[] = []
    for (let round = 0; round < 60 && fake.image() === 'v2'; round++) {
      const before = JSON.stringify([fake.rollout, fake.release, fake.daemonSet])
      const view = fake.rolloutView()!
      fake.passRollout()
      const hasWritten = JSON.stringify([fake.rollout, fake.release, fake.daemonSet]) !== before
      if (hasWritten && !stopsRelease(planRollout(view), view) && !isRollingBack(view)) waiting.push(planRollout(view).kind)
      fake.passRelease()
      fake.passExecutor()
      fake.actNatively()
    }
    expect(fake.image()).toBe('v1')
    expect(waiting).toEqual([])
  })
})

const text = 'config: Pin: the copy cannot be created'

/** Two of five nodes run v2, and the release waits for an approval. */
function inRelease(policy?: ReleasePolicySpec): FakeCluster {
  const fake = new FakeCluster()
  fake.policy = policy
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  return fake
}

function holdConfig(fake: FakeCluster, reason: ConfigHoldReason): void {
  fake.readsAs = (view) => ({ ...view, configHold: { reason, message: text } })
}

function approve(fake: FakeCluster): void {
  fake.setCanaryStatus({ currentStepState: 'StepReady' })
  settle(fake)
}

function conditionOf(
  fake: FakeCluster,
  type: string,
): { readonly status: string; readonly reason: string; readonly message: string } | undefined {
  return fake.rollout?.status?.conditions?.find((condition) => condition.type === type)
}
