import { daemonSetAnnotations, rolloutAnnotations } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster, type ToyOptions } from '../../../../../test/toys/toy-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]

describe('going back to the stable template in mid-release', () => {
  it('is a rollback without pauses: Cancelling, complete in its status, and Succeeded=False at its end', () => {
    const toy = pausedAt(2)
    toy.setImage('v1')
    const seen = new Set<string>()
    const said = new Set<string>()
    settle(toy, () => {
      seen.add(`${reasonOf(toy)} ${toy.rollout?.status?.currentStepState}`)
      if (reasonOf(toy) === 'Cancelling') said.add(toy.rollout?.status?.message ?? '')
    })
    expect([...said].filter((message) => !message.startsWith('going back from revision hash-v2 to hash-v1'))).toEqual([])
    expect([...seen].filter((one) => one.startsWith('Cancelling'))).toEqual(['Cancelling StepUpgrade'])
    expect([...seen].filter((one) => one.includes('StepPaused'))).toEqual(['InRolling StepPaused'])
    expect(toy.oldPods()).toEqual([])
    expect(toy.rollout?.status).toMatchObject({
      phase: 'Healthy',
      stableRevision: 'hash-v1',
      rollbackFrom: 'hash-v2',
      canaryStatus: {
        canaryRevision: 'hash-v1',
        stableRevision: 'hash-v1',
        podTemplateHash: 'hash-v1',
        finalisingStep: 'END',
        nextStepIndex: -1,
      },
    })
    expect(condition(toy, 'Succeeded')?.status).toBe('False')
    expect(toy.rollout?.status).not.toHaveProperty('heldRevisions')
  })

  it('is one though every node ran the new version by then', () => {
    const toy = pausedAt(1, { steps: [{ replicas: 5, pause: {} }, { replicas: '100%' }] })
    toy.act({ id: 'j', type: 'jump', expectedStep: 1, step: 1 })
    settle(toy)
    for (const pod of [...toy.oldPods()]) toy.pods.splice(toy.pods.indexOf(pod), 1)
    settle(toy)
    expect(toy.oldPods()).toEqual([])
    toy.setImage('v1')
    settle(toy)
    expect([toy.oldPods().length, condition(toy, 'Succeeded')?.status, toy.rollout?.status?.stableRevision]).toEqual([
      0,
      'False',
      'hash-v1',
    ])
  })

  it('announces the stable revision as both, so that what is taken back counts as superseded and goes first (G5)', () => {
    const toy = pausedAt(2)
    toy.setImage('v1')
    while (toy.release?.status?.flight?.revision !== 'hash-v1') act(toy)
    expect(toy.daemonSet.metadata.annotations).toMatchObject({
      [daemonSetAnnotations.canaryRevision]: 'hash-v1',
      [daemonSetAnnotations.stableRevision]: 'hash-v1',
      [daemonSetAnnotations.partition]: '0',
    })
  })

  it('stops in a pause and is a rollback still when that ends (G9)', () => {
    const toy = pausedAt(2)
    toy.pause(true)
    toy.setImage('v1')
    settle(toy)
    expect([reasonOf(toy), toy.oldPods().length]).toEqual(['Paused', 3])
    toy.pause(false)
    const reasons = new Set<string>()
    settle(toy, () => reasons.add(reasonOf(toy)))
    expect([...reasons]).toEqual(expect.arrayContaining(['Cancelling', 'Completed']))
    expect(condition(toy, 'Succeeded')?.status).toBe('False')
  })

  it('may be followed by the version that was taken back, as a release from its first step', () => {
    const toy = pausedAt(2)
    toy.setImage('v1')
    while (toy.rollout?.status?.rollbackFrom === undefined) act(toy)
    toy.setImage('v2')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      canaryStatus: { stableRevision: 'hash-v1' },
    })
    expect(toy.rollout?.status).not.toHaveProperty('rollbackFrom')
  })

  it('is an ordinary release once the release has ended', () => {
    const toy = pausedAt(1)
    toy.act({ id: 'p', type: 'promote' })
    settle(toy)
    toy.setImage('v1')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      canaryStatus: { stableRevision: 'hash-v2' },
    })
  })
})

describe('going back when the DaemonSet was given back, and the Rollout does not say so yet', () => {
  it.each([
    ['Finalizing', 'binding'],
    ['Finalizing', 'release'],
    ['Completed', 'binding'],
    ['Completed', 'release'],
  ] as const)('is a rollback that is not over before it was made (BatchRelease %s, %s; G6, G7)', (phase, scope) => {
    const toy = pausedAt(1, { scope })
    toy.act({ id: 'p', type: 'promote' })
    while (!isGivenBack(toy)) act(toy)
    while (toy.release?.status?.phase !== phase) toy.passRelease()
    toy.setImage('v1')
    settle(toy, () => {
      if (toy.rollout?.status?.phase === 'Healthy') expect(toy.oldPods()).toEqual([])
      if (toy.release?.status?.flight?.state === 'open')
        expect(toy.daemonSet.metadata.annotations).toHaveProperty([daemonSetAnnotations.inProgressing])
    })
    expect(toy.rollout?.status).toMatchObject({ phase: 'Healthy', rollbackFrom: 'hash-v2', stableRevision: 'hash-v1' })
    expect(condition(toy, 'Succeeded')?.status).toBe('False')
  })

  it('is one, too, where it was paused when it began (G9)', () => {
    const toy = pausedAt(1)
    toy.act({ id: 'p', type: 'promote' })
    while (!isGivenBack(toy)) act(toy)
    toy.pause(true)
    toy.setImage('v1')
    settle(toy)
    expect([toy.rollout?.status?.phase, toy.release?.status?.phase, toy.oldPods().length]).toEqual(['Progressing', 'Preparing', 5])
    toy.pause(false)
    settle(toy)
    expect([toy.rollout?.status?.phase, toy.oldPods().length]).toEqual(['Healthy', 0])
  })
})

describe('a rollback in batches', () => {
  it('walks the steps that take a node back, with their pauses', () => {
    const toy = pausedAt(2, {
      steps: [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '80%', pause: {} }, { replicas: '100%' }],
    })
    annotate(toy, rolloutAnnotations.rollbackInBatch, 'true')
    toy.setImage('v1')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({
      currentStepIndex: 2,
      currentStepState: 'StepPaused',
      rollbackFrom: 'hash-v2',
      message: expect.stringMatching(/^going back from revision hash-v2, step 2 of 4 \(60%\) is ready and waits for approval/),
    })
    expect(toy.oldPods()).toHaveLength(2)
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(toy)
    expect([toy.rollout?.status?.currentStepIndex, toy.oldPods().length]).toEqual([3, 1])
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(toy)
    expect([toy.rollout?.status?.phase, toy.oldPods().length, condition(toy, 'Succeeded')?.status]).toEqual(['Healthy', 0, 'False'])
  })

  it('goes on without pauses once the annotation is gone', () => {
    const toy = pausedAt(2)
    annotate(toy, rolloutAnnotations.rollbackInBatch, 'true')
    toy.setImage('v1')
    settle(toy)
    expect(toy.rollout?.status?.currentStepState).toBe('StepPaused')
    annotate(toy, rolloutAnnotations.rollbackInBatch, 'false')
    settle(toy)
    expect([toy.rollout?.status?.phase, toy.oldPods().length]).toEqual(['Healthy', 0])
  })
})

describe('templates that overtake one another', () => {
  it.each([
    [['v2', 'v3'], 'hash-v1'],
    [['v2', 'v3', 'v4', 'v2'], 'hash-v1'],
    [['v2', 'v1', 'v2'], 'hash-v1'],
    [['v2', 'v1', 'v3'], 'hash-v1'],
  ])('v1 and then %j: the last one starts at step 1, and stable is still %s', (images, stable) => {
    const toy = healthy()
    for (const image of images) {
      toy.setImage(image)
      settle(toy)
    }
    expect(toy.rollout?.status).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      stableRevision: stable,
      canaryStatus: { canaryRevision: `hash-${images.at(-1)}`, stableRevision: stable },
    })
  })

  it('keep the stable revision though no node runs it any more (v1, v2 everywhere, v3 taken back)', () => {
    const toy = pausedAt(2)
    for (const pod of [...toy.oldPods()]) toy.pods.splice(toy.pods.indexOf(pod), 1)
    settle(toy)
    toy.setImage('v3')
    settle(toy)
    expect(toy.rollout?.status?.canaryStatus).toMatchObject({ canaryRevision: 'hash-v3', stableRevision: 'hash-v1' })
    toy.act({ id: 'a', type: 'abort' })
    settle(toy)
    expect([toy.image(), toy.oldPods().length, toy.rollout?.status?.phase]).toEqual(['v1', 0, 'Healthy'])
  })
})

describe('a Rollout that is made again where one was frozen', () => {
  it.each([
    [1, 1, 'StepPaused'],
    [3, 2, 'StepPaused'],
  ])('goes on in steps from what %i updated nodes fit: step %i, %s', (updated, step, state) => {
    const toy = pausedAt(1)
    if (updated > 1) toy.act({ id: 'j', type: 'jump', expectedStep: 1, step: 2 })
    while (toy.pods.filter(({ hash, ready }) => hash === 'hash-v2' && ready).length < updated) act(toy)
    const { spec, metadata } = toy.rollout!
    toy.deleteRollout()
    settle(toy)
    expect(toy.rollout).toBeUndefined()
    toy.rollout = {
      metadata: { namespace: 'demo', name: 'agent', uid: 'rollout', resourceVersion: '1', generation: metadata.generation ?? 1 },
      spec,
    }
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: step, currentStepState: state, stableRevision: 'hash-v1' })
    expect(toy.daemonSet.metadata.annotations).not.toHaveProperty([daemonSetAnnotations.frozen])
  })
})

it('counts nodes in a pause as they change, not as they were when it began', () => {
  const toy = pausedAt(1)
  toy.pause(true)
  settle(toy)
  for (const pod of toy.oldPods().slice(0, 2)) toy.pods.splice(toy.pods.indexOf(pod), 1)
  settle(toy)
  expect(toy.rollout?.status?.canaryStatus).toMatchObject({ canaryReplicas: 3, canaryReadyReplicas: 3 })
  expect(reasonOf(toy)).toBe('Paused')
})

function healthy(options: ToyOptions = {}): ToyCluster {
  const toy = new ToyCluster({ steps, ...options })
  settle(toy)
  return toy
}

/** A release of v2 over v1 that pauses at this step. */
function pausedAt(step: number, options: ToyOptions = {}): ToyCluster {
  const toy = healthy(options)
  toy.setImage('v2')
  settle(toy)
  for (let at = 1; at < step; at++) {
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(toy)
  }
  return toy
}

function isGivenBack({ release, daemonSet }: ToyCluster): boolean {
  return release?.status?.phase === 'Finalizing' && !(daemonSetAnnotations.controlInfo in (daemonSet.metadata.annotations ?? {}))
}

function annotate(toy: ToyCluster, key: string, value: string): void {
  const { metadata } = toy.rollout!
  toy.rollout = { ...toy.rollout!, metadata: { ...metadata, annotations: { ...metadata.annotations, [key]: value } } }
}

function condition(toy: ToyCluster, type: string): { readonly status: string } | undefined {
  return toy.rollout?.status?.conditions?.find((one) => one.type === type)
}

function reasonOf(toy: ToyCluster): string {
  return toy.rollout?.status?.conditions?.find(({ type }) => type === 'Progressing')?.reason ?? ''
}
