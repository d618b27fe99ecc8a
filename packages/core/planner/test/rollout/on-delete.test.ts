import type { HeldBy } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { isStopAsked, strategyOf } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster, type ToyOptions } from '../../../../../test/toys/toy-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]
const ends = [
  ['deleted', 'Terminating', (toy: ToyCluster) => toy.deleteRollout()],
  ['disabled', 'Disabling', (toy: ToyCluster) => toy.editRollout((spec) => ({ ...spec, disabled: true }))],
] as const
const frozenKeys = [daemonSetAnnotations.originalUpdateStrategy, daemonSetAnnotations.frozen].toSorted()

describe.each(ends)('on-delete of a Rollout that is %s', (_how, phase, end) => {
  it.each([
    ['Complete', 'binding', 'v2'],
    ['Complete', 'release', 'v2'],
    ['Rollback', 'binding', 'v1'],
    ['Rollback', 'release', 'v1'],
  ] as const)('%s ends the release without pauses, gives the strategy back, and lets go (%s)', (policy, scope, image) => {
    const toy = paused({ scope })
    toy.onDelete(policy)
    end(toy)
    const phases: string[] = []
    settle(toy, () => phases.push(toy.rollout?.status?.phase ?? 'gone'))
    expect(phases).toContain(phase)
    expect([toy.image(), toy.oldPods().length, toy.release, strategyOf(toy.daemonSet)]).toEqual([image, 0, undefined, 'RollingUpdate'])
    expect(toy.daemonSet.metadata.annotations).toEqual({})
    expect(phases.at(-1)).toBe(phase === 'Terminating' ? 'gone' : 'Disabled')
  })

  it.each([undefined, 'Freeze', 'Whatever'])('freezes where it says %s', (policy) => {
    const toy = paused()
    if (policy !== undefined) toy.onDelete(policy)
    end(toy)
    settle(toy)
    expect([toy.image(), toy.oldPods().length, strategyOf(toy.daemonSet)]).toEqual(['v2', 4, 'OnDelete'])
    expect(annotationsOf(toy)).toEqual(frozenKeys)
  })

  it('outranks a pause: who wants the release ended wants it now', () => {
    const toy = paused()
    toy.pause(true)
    settle(toy)
    toy.onDelete('Complete')
    end(toy)
    settle(toy)
    expect([toy.oldPods().length, annotationsOf(toy)]).toEqual([0, []])
  })

  it('needs no steps: those that break the rules keep nobody waiting (G6)', () => {
    const toy = paused()
    toy.editRollout((spec) => ({ ...spec, strategy: { canary: { steps: [{ replicas: '50%', pause: {} }, { replicas: '20%' }] } } }))
    settle(toy)
    toy.onDelete('Complete')
    end(toy)
    settle(toy)
    expect([toy.image(), toy.oldPods().length, annotationsOf(toy)]).toEqual(['v2', 0, []])
  })

  it('says what it waits for, under the same budget', () => {
    const toy = paused()
    toy.onDelete('Complete')
    for (const name of toy.nodes.keys()) toy.nodes.set(name, { ready: true, bad: true })
    end(toy)
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({
      phase,
      message: expect.stringMatching(/^before the Rollout goes: waiting for updated nodes to become available/),
    })
    expect(toy.pods.filter(({ ready }) => !ready)).toHaveLength(2)
    expect(toy.rollout?.status?.conditions?.find(({ type }) => type === 'Progressing')).toMatchObject({
      status: 'True',
      reason: 'Finalising',
    })
  })

  it('can be changed to Freeze while it goes', () => {
    const toy = paused()
    toy.onDelete('Complete')
    for (const name of toy.nodes.keys()) toy.nodes.set(name, { ready: true, bad: true })
    end(toy)
    settle(toy)
    toy.onDelete('Freeze')
    settle(toy)
    expect(toy.release).toBeUndefined()
    expect(annotationsOf(toy)).toEqual(expect.arrayContaining(frozenKeys))
  })

  it('can be changed from Complete to Rollback while it goes', () => {
    const toy = paused()
    toy.onDelete('Complete')
    for (const name of toy.nodes.keys()) toy.nodes.set(name, { ready: true, bad: true })
    end(toy)
    settle(toy)
    toy.onDelete('Rollback')
    settle(toy)
    expect([toy.image(), toy.oldPods().length, annotationsOf(toy)]).toEqual(['v1', 0, []])
  })

  it.each([
    ['Complete', 'v2'],
    ['Rollback', 'v1'],
  ])('%s ends a release that never began', (policy, image) => {
    const toy = healthy({ scope: 'release' })
    toy.setImage('v2')
    toy.onDelete(policy)
    end(toy)
    settle(toy)
    expect([toy.image(), toy.oldPods().length, strategyOf(toy.daemonSet), annotationsOf(toy)]).toEqual([image, 0, 'RollingUpdate', []])
  })

  it.each(['Complete', 'Rollback'])('%s has nothing to do where no release runs', (policy) => {
    const toy = healthy()
    const pods = toy.pods.map(({ uid }) => uid)
    toy.onDelete(policy)
    end(toy)
    settle(toy)
    expect([toy.pods.map(({ uid }) => uid), annotationsOf(toy)]).toEqual([pods, []])
  })

  it.each(['Complete', 'Rollback'])('%s releases no template that was taken back, and freezes (G12)', (policy) => {
    const toy = paused()
    toy.act({ id: 'a', type: 'abort' })
    settle(toy)
    toy.setImage('v2')
    settle(toy)
    toy.onDelete(policy)
    end(toy)
    settle(toy)
    expect([toy.image(), toy.oldPods().length, annotationsOf(toy)]).toEqual(['v2', 5, frozenKeys])
    expect(toy.frozen.at(-1)).toContain(`${policy} was not carried out to the end`)
  })

  it('Rollback puts the template back once: who applies the other again has it frozen (G12)', () => {
    const toy = paused()
    toy.onDelete('Rollback')
    end(toy)
    for (let pass = 0; pass < 20 && toy.image() === 'v2'; pass++) act(toy)
    toy.setImage('v2')
    settle(toy)
    expect([toy.image(), strategyOf(toy.daemonSet)]).toEqual(['v2', 'OnDelete'])
    expect(annotationsOf(toy)).toEqual(frozenKeys)
  })

  it('Rollback takes no newer template back: it may mend what is gone back to, and is frozen', () => {
    const toy = paused()
    toy.onDelete('Rollback')
    end(toy)
    for (let pass = 0; pass < 40 && toy.image() === 'v2'; pass++) act(toy)
    for (let pass = 0; pass < 3; pass++) act(toy)
    toy.setImage('v3')
    settle(toy)
    expect([toy.image(), strategyOf(toy.daemonSet)]).toEqual(['v3', 'OnDelete'])
    expect(annotationsOf(toy)).toEqual(frozenKeys)
  })

  it('Rollback freezes where the stable revision is gone from the history', () => {
    const toy = paused()
    toy.revisions = toy.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    toy.onDelete('Rollback')
    end(toy)
    settle(toy)
    expect([toy.image(), annotationsOf(toy)]).toEqual(['v2', frozenKeys])
  })

  it('Complete follows a newer template', () => {
    const toy = paused()
    toy.onDelete('Complete')
    end(toy)
    act(toy)
    toy.setImage('v3')
    settle(toy)
    expect([toy.image(), toy.oldPods().length, annotationsOf(toy)]).toEqual(['v3', 0, []])
  })

  it('waits for no node that is dead, and freezes what it leaves (G6)', () => {
    const toy = paused()
    toy.nodes.set('node-4', { ready: false, bad: false })
    toy.onDelete('Complete')
    end(toy)
    settle(toy)
    expect([toy.oldPods().map(({ node }) => node), annotationsOf(toy)]).toEqual([['node-4'], frozenKeys])
  })

  it('does not keep the Rollout where the DaemonSet is gone or made anew', () => {
    const toy = paused()
    toy.onDelete('Complete')
    end(toy)
    act(toy)
    toy.remakeDaemonSet()
    settle(toy)
    expect([toy.release, toy.rollout?.status?.phase ?? 'gone']).toEqual([undefined, phase === 'Terminating' ? 'gone' : 'Disabled'])
  })

  it('gives up where the BatchRelease was deleted by somebody', () => {
    const toy = paused()
    toy.onDelete('Complete')
    toy.release = { ...toy.release!, metadata: { ...toy.release!.metadata, deletionTimestamp: new Date(toy.nowMs).toISOString() } }
    end(toy)
    settle(toy)
    expect([toy.oldPods().length, annotationsOf(toy)]).toEqual([4, frozenKeys])
  })
})

it('goes on as any release when the Rollout is enabled again meanwhile', () => {
  const toy = paused()
  toy.onDelete('Complete')
  for (const name of toy.nodes.keys()) toy.nodes.set(name, { ready: true, bad: true })
  toy.editRollout((spec) => ({ ...spec, disabled: true }))
  settle(toy)
  toy.editRollout((spec) => ({ ...spec, disabled: false }))
  for (const name of toy.nodes.keys()) toy.nodes.set(name, { ready: true, bad: false })
  settle(toy)
  expect(toy.rollout?.status).toMatchObject({ phase: 'Progressing', currentStepState: 'StepPaused' })
})

it('lets what opens a record go on where the release is to be ended, and nowhere else (F9)', () => {
  const toy = paused()
  const asked = (): boolean => isStopAsked(toy.rollout!, toy.release!)
  expect(asked()).toBe(false)
  toy.pause(true)
  expect(asked()).toBe(true)
  toy.editRollout((spec) => ({ ...spec, disabled: true }))
  toy.onDelete('Freeze')
  expect(asked()).toBe(true)
  toy.onDelete('Complete')
  expect(asked()).toBe(false)
})

it('lets nothing be opened for a revision that was taken back, until its BatchRelease is held itself (F9, G12)', () => {
  const toy = paused()
  const { rollout, release } = toy
  const { canaryRevision = '' } = release!.spec.tranche!
  const asked = (heldRevision: string, hold?: HeldBy): boolean =>
    isStopAsked(
      { ...rollout!, status: { ...rollout!.status!, heldRevisions: [{ revision: heldRevision, digest: 'd', reason: 'Aborted' }] } },
      { ...release!, spec: { ...release!.spec, tranche: { ...release!.spec.tranche!, ...(hold && { hold }) } } },
    )
  expect(asked(canaryRevision)).toBe(true)
  expect(asked(canaryRevision, { reason: 'RevisionHeld', id: canaryRevision, message: 'it was taken back' })).toBe(false)
  expect(asked('another')).toBe(false)
})

it.each([
  ['before its BatchRelease was there', 1],
  ['once its BatchRelease was there', 8],
])('a Rollout that is enabled again after its template was put back, %s, leaves nothing of the release behind (G6)', (_when, passes) => {
  const toy = healthy({ scope: 'binding' })
  toy.setImage('v2')
  toy.actNatively()
  for (let pass = 0; pass < passes; pass++) toy.passRollout()
  toy.onDelete('Rollback')
  toy.editRollout((spec) => ({ ...spec, disabled: true }))
  for (let pass = 0; pass < 20 && toy.image() === 'v2'; pass++) act(toy)
  expect(toy.image()).toBe('v1')
  toy.editRollout((spec) => ({ ...spec, disabled: false }))
  settle(toy)
  expect([toy.rollout?.status?.phase, toy.release, toy.oldPods()]).toEqual(['Healthy', undefined, []])
  expect(annotationsOf(toy)).toEqual([daemonSetAnnotations.originalUpdateStrategy, daemonSetAnnotations.rollout].toSorted())
})

it('counts the nodes that were updated before a Rollout was disabled to its end', () => {
  const toy = paused()
  toy.onDelete('Complete')
  toy.editRollout((spec) => ({ ...spec, disabled: true }))
  settle(toy)
  expect(toy.rollout?.status).toMatchObject({ phase: 'Disabled', canaryStatus: { canaryReplicas: 5, canaryReadyReplicas: 5 } })
  expect(toy.rollout?.status?.message).toBe('disabled: the DaemonSet is not under control')
})

it.each([8, 10, 12, 14])(
  'goes on with a rollback when the Rollout is enabled again after %i writes of it, and says Healthy at its end',
  (writes) => {
    const toy = paused()
    toy.onDelete('Rollback')
    toy.editRollout((spec) => ({ ...spec, disabled: true }))
    const from = toy.writes
    while (toy.writes < from + writes) act(toy)
    toy.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(toy, () => {
      if (toy.rollout?.status?.phase === 'Healthy') expect(toy.oldPods()).toEqual([])
    })
    expect(toy.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1', rollbackFrom: 'hash-v2' })
    expect(toy.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Succeeded', status: 'False' }))
  },
)

function healthy(options: ToyOptions = {}): ToyCluster {
  const toy = new ToyCluster({ steps, ...options })
  settle(toy)
  return toy
}

/** A release of v2 over v1 that pauses at step 1. */
function paused(options: ToyOptions = {}): ToyCluster {
  const toy = healthy(options)
  toy.setImage('v2')
  settle(toy)
  return toy
}

function annotationsOf(toy: ToyCluster): readonly string[] {
  return Object.keys(toy.daemonSet.metadata.annotations ?? {}).toSorted()
}
