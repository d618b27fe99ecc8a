import { type HeldBy, isListed, progressingTransitions } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { isStopAsked, planRollout, type RolloutView, strategyOf } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster, type FakeClusterOptions } from '../../../../../test/fakes/fake-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]
const ends = [
  ['deleted', 'Terminating', (fake: FakeCluster) => fake.deleteRollout()],
  ['disabled', 'Disabling', (fake: FakeCluster) => fake.editRollout((spec) => ({ ...spec, disabled: true }))],
] as const
const frozenKeys = [daemonSetAnnotations.originalUpdateStrategy, daemonSetAnnotations.frozen].toSorted()

describe.each(ends)('on-delete of a Rollout that is %s', (_how, phase, end) => {
  it.each([
    ['Complete', 'binding', 'v2'],
    ['Complete', 'release', 'v2'],
    ['Rollback', 'binding', 'v1'],
    ['Rollback', 'release', 'v1'],
  ] as const)('%s ends the release without pauses, restores the strategy, and detaches (%s)', (policy, scope, image) => {
    const fake = paused({ scope })
    fake.onDelete(policy)
    end(fake)
    const phases: string[] = []
    settle(fake, () => phases.push(fake.rollout?.status?.phase ?? 'gone'))
    expect(phases).toContain(phase)
    expect([fake.image(), fake.oldPods().length, fake.release, strategyOf(fake.daemonSet)]).toEqual([image, 0, undefined, 'RollingUpdate'])
    expect(fake.daemonSet.metadata.annotations).toEqual({})
    expect(phases.at(-1)).toBe(phase === 'Terminating' ? 'gone' : 'Disabled')
  })

  it.each([undefined, 'Freeze', 'Whatever'])('freezes where it says %s', (policy) => {
    const fake = paused()
    if (policy !== undefined) fake.onDelete(policy)
    end(fake)
    settle(fake)
    expect([fake.image(), fake.oldPods().length, strategyOf(fake.daemonSet)]).toEqual(['v2', 4, 'OnDelete'])
    expect(annotationsOf(fake)).toEqual(frozenKeys)
  })

  it.each([undefined, 'Complete', 'Rollback'])(
    'changes nothing while definitions hide the release, where it says %s (F11, G6)',
    (policy) => {
      const fake = paused()
      if (policy !== undefined) fake.onDelete(policy)
      end(fake)
      const view = fake.rolloutView()!
      const { tranche: _hidden, ...spec } = view.release!.spec
      const plan = planRollout({ ...view, schemaGap: 'outdated', release: { ...view.release!, spec } })
      expect(plan).toMatchObject({ kind: 'wait', for: 'outdated' })
    },
  )

  it.each(['Complete', 'Rollback'])(
    '%s stops the release where definitions of other kinds lack fields: nothing else would (G9)',
    (policy) => {
      const fake = paused()
      fake.onDelete(policy)
      end(fake)
      expect(planRollout({ ...fake.rolloutView()!, schemaGap: 'outdated' })).toEqual({ kind: 'deleteRelease' })
    },
  )

  it.each(['Complete', 'Rollback'])(
    '%s waits for such definitions where the release has no BatchRelease yet, and creates none',
    (policy) => {
      const fake = paused()
      fake.onDelete(policy)
      fake.release = undefined
      end(fake)
      expect(planRollout({ ...fake.rolloutView()!, schemaGap: 'outdated' })).toMatchObject({ kind: 'wait', for: 'outdated' })
    },
  )

  it('waits for such definitions before the DaemonSet controller has observed the template, and writes nothing', () => {
    const fake = paused()
    fake.onDelete('Complete')
    end(fake)
    const view = fake.rolloutView()!
    const { tranche: _hidden, ...spec } = view.release!.spec
    const release = { ...view.release!, spec }
    const rollout = { ...view.rollout, status: { ...view.rollout.status!, phase } }
    const plan = planRollout({ ...view, rollout, release, revisions: [], schemaGap: 'outdated' })
    expect(plan).toMatchObject({ kind: 'wait', for: 'outdated' })
  })

  it('outranks a pause: the release is to end now', () => {
    const fake = paused()
    fake.pause(true)
    settle(fake)
    fake.onDelete('Complete')
    end(fake)
    settle(fake)
    expect([fake.oldPods().length, annotationsOf(fake)]).toEqual([0, []])
  })

  it('needs no steps: invalid ones do not delay it (G6)', () => {
    const fake = paused()
    fake.editRollout((spec) => ({ ...spec, strategy: { canary: { steps: [{ replicas: '50%', pause: {} }, { replicas: '20%' }] } } }))
    settle(fake)
    fake.onDelete('Complete')
    end(fake)
    settle(fake)
    expect([fake.image(), fake.oldPods().length, annotationsOf(fake)]).toEqual(['v2', 0, []])
  })

  it('reports what it waits for, under the same budget', () => {
    const fake = paused()
    fake.onDelete('Complete')
    for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad: true })
    end(fake)
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      phase,
      message: expect.stringMatching(/^before detaching: waiting for updated nodes to become available/),
    })
    expect(fake.pods.filter(({ ready }) => !ready)).toHaveLength(2)
    expect(fake.rollout?.status?.conditions?.find(({ type }) => type === 'Progressing')).toMatchObject({
      status: 'True',
      reason: 'Finalising',
    })
  })

  it('can be changed to Freeze meanwhile', () => {
    const fake = paused()
    fake.onDelete('Complete')
    for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad: true })
    end(fake)
    settle(fake)
    fake.onDelete('Freeze')
    settle(fake)
    expect(fake.release).toBeUndefined()
    expect(annotationsOf(fake)).toEqual(expect.arrayContaining(frozenKeys))
  })

  it('can be changed from Complete to Rollback meanwhile', () => {
    const fake = paused()
    fake.onDelete('Complete')
    for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad: true })
    end(fake)
    settle(fake)
    fake.onDelete('Rollback')
    settle(fake)
    expect([fake.image(), fake.oldPods().length, annotationsOf(fake)]).toEqual(['v1', 0, []])
  })

  it.each([
    ['Complete', 'v2'],
    ['Rollback', 'v1'],
  ])('%s ends a release that never began', (policy, image) => {
    const fake = healthy({ scope: 'release' })
    fake.setImage('v2')
    fake.onDelete(policy)
    end(fake)
    settle(fake)
    expect([fake.image(), fake.oldPods().length, strategyOf(fake.daemonSet), annotationsOf(fake)]).toEqual([image, 0, 'RollingUpdate', []])
  })

  it.each(['Complete', 'Rollback'])('%s has nothing to do where no release runs', (policy) => {
    const fake = healthy()
    const pods = fake.pods.map(({ uid }) => uid)
    fake.onDelete(policy)
    end(fake)
    settle(fake)
    expect([fake.pods.map(({ uid }) => uid), annotationsOf(fake)]).toEqual([pods, []])
  })

  it.each(['Complete', 'Rollback'])('%s releases no template that was rolled back, and freezes (G12)', (policy) => {
    const fake = paused()
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    fake.onDelete(policy)
    end(fake)
    settle(fake)
    expect([fake.image(), fake.oldPods().length, annotationsOf(fake)]).toEqual(['v2', 5, frozenKeys])
    expect(fake.frozen.at(-1)).toContain(`${policy} was not completed`)
  })

  it('Rollback restores the template once: another one applied again is frozen (G12)', () => {
    const fake = paused()
    fake.onDelete('Rollback')
    end(fake)
    for (let pass = 0; pass < 20 && fake.image() === 'v2'; pass++) act(fake)
    fake.setImage('v2')
    settle(fake)
    expect([fake.image(), strategyOf(fake.daemonSet)]).toEqual(['v2', 'OnDelete'])
    expect(annotationsOf(fake)).toEqual(frozenKeys)
  })

  it('Rollback rolls no newer template back: it may fix the stable one, and is frozen', () => {
    const fake = paused()
    fake.onDelete('Rollback')
    end(fake)
    for (let pass = 0; pass < 40 && fake.image() === 'v2'; pass++) act(fake)
    for (let pass = 0; pass < 3; pass++) act(fake)
    fake.setImage('v3')
    settle(fake)
    expect([fake.image(), strategyOf(fake.daemonSet)]).toEqual(['v3', 'OnDelete'])
    expect(annotationsOf(fake)).toEqual(frozenKeys)
  })

  it('Rollback freezes where the stable revision is gone from the history', () => {
    const fake = paused()
    fake.revisions = fake.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    fake.onDelete('Rollback')
    end(fake)
    settle(fake)
    expect([fake.image(), annotationsOf(fake)]).toEqual(['v2', frozenKeys])
  })

  it('Complete follows a newer template', () => {
    const fake = paused()
    fake.onDelete('Complete')
    end(fake)
    act(fake)
    fake.setImage('v3')
    settle(fake)
    expect([fake.image(), fake.oldPods().length, annotationsOf(fake)]).toEqual(['v3', 0, []])
  })

  it('waits for no dead node, and freezes the nodes it leaves (G6)', () => {
    const fake = paused()
    fake.nodes.set('node-4', { ready: false, bad: false })
    fake.onDelete('Complete')
    end(fake)
    settle(fake)
    expect([fake.oldPods().map(({ node }) => node), annotationsOf(fake)]).toEqual([['node-4'], frozenKeys])
  })

  it('does not keep the Rollout where the DaemonSet is gone or recreated', () => {
    const fake = paused()
    fake.onDelete('Complete')
    end(fake)
    act(fake)
    fake.remakeDaemonSet()
    settle(fake)
    expect([fake.release, fake.rollout?.status?.phase ?? 'gone']).toEqual([undefined, phase === 'Terminating' ? 'gone' : 'Disabled'])
  })

  it('gives up where a client deleted the BatchRelease', () => {
    const fake = paused()
    fake.onDelete('Complete')
    fake.release = { ...fake.release!, metadata: { ...fake.release!.metadata, deletionTimestamp: new Date(fake.nowMs).toISOString() } }
    end(fake)
    settle(fake)
    expect([fake.oldPods().length, annotationsOf(fake)]).toEqual([4, frozenKeys])
  })
})

describe('a Rollout that is enabled again while its config cannot be pinned', () => {
  const unpinned = { reason: 'CopyFailed', message: 'config: Pin: no copy can be created' } as const

  it('is not called disabled any more while that holds its release, and then continues in its steps (G3)', () => {
    const fake = heldAgain((held) => {
      held.onDelete('Complete')
      held.editRollout((spec) => ({ ...spec, disabled: true }))
      settle(held)
      expect(held.rollout?.status?.phase).toBe('Disabling')
    })
    expect(fake.rollout?.status).toMatchObject({ phase: 'Progressing', currentStepIndex: 1 })
    expect(fake.oldPods()).toHaveLength(4)
    fake.readsAs = (view) => view
    settle(fake)
    expect([fake.rollout?.status?.currentStepIndex, fake.oldPods().length]).toEqual([1, 4])
  })

  it('is not called disabled either where its release had been frozen', () => {
    const fake = heldAgain((held) => {
      held.editRollout((spec) => ({ ...spec, disabled: true }))
      settle(held)
      expect(held.rollout?.status?.phase).toBe('Disabled')
    })
    expect(fake.rollout?.status).toMatchObject({ phase: 'Progressing', currentStepIndex: 1 })
    fake.readsAs = (view) => view
    settle(fake)
    expect([fake.rollout?.status?.currentStepIndex, fake.oldPods().length]).toEqual([1, 4])
  })

  it.each<[string, (view: RolloutView) => RolloutView]>([
    ['OpenKruiseActive', (view) => ({ ...view, kruise: { lease: 'manager', holder: 'manager-0', activeForMs: 12_000 } })],
    [
      'InvalidSpec',
      (view) => ({
        ...view,
        rollout: { ...view.rollout, spec: { ...view.rollout.spec, strategy: { canary: { steps: [{ replicas: '150%' }] } } } },
      }),
    ],
  ])('begins no release while %s forbids every release', (reason, spoil) => {
    const fake = paused()
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(fake)
    fake.readsAs = spoil
    fake.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(fake)
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', reason }))
    expect([fake.rollout?.status?.phase, fake.release]).toEqual(['Disabled', undefined])
  })

  function heldAgain(disable: (fake: FakeCluster) => void): FakeCluster {
    const fake = paused()
    fake.readsAs = (view) => ({ ...view, configHold: unpinned })
    settle(fake)
    disable(fake)
    fake.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(fake)
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', reason: 'ConfigUnpinned' }))
    return fake
  }
})

it('continues as any release when the Rollout is enabled again meanwhile', () => {
  const fake = paused()
  fake.onDelete('Complete')
  for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad: true })
  fake.editRollout((spec) => ({ ...spec, disabled: true }))
  settle(fake)
  fake.editRollout((spec) => ({ ...spec, disabled: false }))
  for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad: false })
  settle(fake)
  expect(fake.rollout?.status).toMatchObject({ phase: 'Progressing', currentStepState: 'StepPaused' })
})

it('the record may open where the release is to be ended, and nowhere else (F9)', () => {
  const fake = paused()
  const asked = (): boolean => isStopAsked(fake.rollout!, fake.release!)
  expect(asked()).toBe(false)
  fake.pause(true)
  expect(asked()).toBe(true)
  fake.editRollout((spec) => ({ ...spec, disabled: true }))
  fake.onDelete('Freeze')
  expect(asked()).toBe(true)
  fake.onDelete('Complete')
  expect(asked()).toBe(false)
})

it('nothing opens for a revision that was rolled back, until its BatchRelease is held itself (F9, G12)', () => {
  const fake = paused()
  const { rollout, release } = fake
  const { canaryRevision = '' } = release!.spec.tranche!
  const asked = (heldRevision: string, hold?: HeldBy): boolean =>
    isStopAsked(
      { ...rollout!, status: { ...rollout!.status!, heldRevisions: [{ revision: heldRevision, digest: 'd', reason: 'Aborted' }] } },
      { ...release!, spec: { ...release!.spec, tranche: { ...release!.spec.tranche!, ...(hold && { hold }) } } },
    )
  expect(asked(canaryRevision)).toBe(true)
  expect(asked(canaryRevision, { reason: 'RevisionHeld', id: canaryRevision, message: 'it was rolled back' })).toBe(false)
  expect(asked('another')).toBe(false)
})

it.each([
  ['before its BatchRelease was there', 1],
  ['once its BatchRelease was there', 8],
])('a Rollout that is enabled again after its template was restored, %s, leaves no trace of the release (G6)', (_when, passes) => {
  const fake = healthy({ scope: 'binding' })
  fake.setImage('v2')
  fake.actNatively()
  for (let pass = 0; pass < passes; pass++) fake.passRollout()
  fake.onDelete('Rollback')
  fake.editRollout((spec) => ({ ...spec, disabled: true }))
  for (let pass = 0; pass < 20 && fake.image() === 'v2'; pass++) act(fake)
  expect(fake.image()).toBe('v1')
  fake.editRollout((spec) => ({ ...spec, disabled: false }))
  settle(fake)
  expect([fake.rollout?.status?.phase, fake.release, fake.oldPods()]).toEqual(['Healthy', undefined, []])
  expect(annotationsOf(fake)).toEqual([daemonSetAnnotations.originalUpdateStrategy, daemonSetAnnotations.rollout].toSorted())
})

it('a Rollout that is being disabled counts the updated nodes until its end', () => {
  const fake = paused()
  fake.onDelete('Complete')
  fake.editRollout((spec) => ({ ...spec, disabled: true }))
  settle(fake)
  expect(fake.rollout?.status).toMatchObject({ phase: 'Disabled', canaryStatus: { canaryReplicas: 5, canaryReadyReplicas: 5 } })
  expect(fake.rollout?.status?.message).toBe('disabled: Tranche does not control the DaemonSet')
})

it.each([8, 10, 12, 14])(
  'a rollback continues when the Rollout is enabled again after %i writes of it, and is Healthy at its end',
  (writes) => {
    const fake = paused()
    fake.onDelete('Rollback')
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    const from = fake.writes
    while (fake.writes < from + writes) act(fake)
    fake.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(fake, () => {
      if (fake.rollout?.status?.phase === 'Healthy') expect(fake.oldPods()).toEqual([])
    })
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1', rollbackFrom: 'hash-v2' })
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Succeeded', status: 'False' }))
  },
)

it.each([
  ['without an action', undefined],
  ['after an abort in an earlier release', 'abort'],
  ['after another action', 'pause'],
])('a rollback by disabling the Rollout is called that once it is enabled again, and no abort, %s', (_when, type) => {
  const fake = paused()
  if (type === 'abort') {
    fake.act({ id: 'earlier', type })
    settle(fake)
    fake.setImage('v3')
    settle(fake)
  } else if (type !== undefined) fake.act({ id: 'earlier', type })
  settle(fake)
  expect(fake.rollout?.status?.lastAction?.type).toBe(type)
  fake.onDelete('Rollback')
  fake.editRollout((spec) => ({ ...spec, disabled: true, strategy: { ...spec.strategy, paused: false } }))
  settle(fake)
  expect(fake.rollout?.status?.phase).toBe('Disabled')
  fake.editRollout((spec) => ({ ...spec, disabled: false }))
  settle(fake)
  const { message } = fake.rollout?.status ?? {}
  expect(message).toMatch(/; revision hash-v\d was rolled back because the Rollout was disabled \(tranche\.dev\/on-delete=Rollback\)$/)
})

it.each([
  { paused: false, reasons: ['Cancelling', 'Completed'] },
  { paused: true, reasons: ['Paused'] },
] as const)(
  'a rollback that was left by disabling the Rollout continues once it is enabled again, with paused: $paused',
  ({ paused: isPaused, reasons }) => {
    const fake = paused()
    fake.setImage('v1')
    while (reasonOf(fake) !== 'Cancelling') act(fake)
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    while (fake.rollout?.status?.phase !== 'Disabling') act(fake)
    expect(reasonOf(fake)).toBeUndefined()
    fake.editRollout((spec) => ({ ...spec, disabled: false, strategy: { ...spec.strategy, paused: isPaused } }))
    const seen: (string | undefined)[] = []
    settle(fake, () => seen.push(reasonOf(fake)))
    expect(isListed(progressingTransitions, undefined, reasons[0])).toBe(true)
    expect([...new Set(seen)].filter((reason) => reason !== undefined)).toEqual(reasons)
  },
)

function reasonOf(fake: FakeCluster): string | undefined {
  return fake.rollout?.status?.conditions?.find(({ type }) => type === 'Progressing')?.reason
}

function healthy(options: FakeClusterOptions = {}): FakeCluster {
  const fake = new FakeCluster({ steps, ...options })
  settle(fake)
  return fake
}

/** A release of v2 over v1 that pauses at step 1. */
function paused(options: FakeClusterOptions = {}): FakeCluster {
  const fake = healthy(options)
  fake.setImage('v2')
  settle(fake)
  return fake
}

function annotationsOf(fake: FakeCluster): readonly string[] {
  return Object.keys(fake.daemonSet.metadata.annotations ?? {}).toSorted()
}
