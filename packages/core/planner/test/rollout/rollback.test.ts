import { daemonSetAnnotations, rolloutAnnotations } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster, type FakeClusterOptions } from '../../../../../test/fakes/fake-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]

describe('going back to the stable template in mid-release', () => {
  it('is a rollback without pauses: Cancelling, complete in its status, and Succeeded=False at its end', () => {
    const fake = pausedAt(2)
    fake.setImage('v1')
    const seen = new Set<string>()
    const said = new Set<string>()
    settle(fake, () => {
      seen.add(`${reasonOf(fake)} ${fake.rollout?.status?.currentStepState}`)
      if (reasonOf(fake) === 'Cancelling') said.add(fake.rollout?.status?.message ?? '')
    })
    expect([...said].filter((message) => !message.startsWith('rolling back from revision hash-v2 to hash-v1'))).toEqual([])
    expect([...seen].filter((one) => one.startsWith('Cancelling'))).toEqual(['Cancelling StepUpgrade'])
    expect([...seen].filter((one) => one.includes('StepPaused'))).toEqual(['InRolling StepPaused'])
    expect(fake.oldPods()).toEqual([])
    expect(fake.rollout?.status).toMatchObject({
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
    expect(condition(fake, 'Succeeded')?.status).toBe('False')
    expect(fake.rollout?.status).not.toHaveProperty('heldRevisions')
  })

  it('is said to be a return where the version that it replaces is blocked and was not released', () => {
    const fake = pausedAt(2)
    fake.act({ id: 'a', type: 'abort' })
    const messagesOf = (): readonly string[] => {
      const said = new Set<string>()
      settle(fake, () => reasonOf(fake) === 'Cancelling' && said.add(fake.rollout?.status?.message ?? ''))
      return [...said]
    }
    expect(messagesOf().every((message) => message.startsWith('rolling back from revision hash-v2 to hash-v1'))).toBe(true)
    fake.setImage('v2')
    settle(fake)
    fake.setImage('v1')
    const said = messagesOf()
    expect(said.length).toBeGreaterThan(0)
    const title = 'returning to revision hash-v1; revision hash-v2 is blocked and was not released'
    expect(said.filter((message) => !message.startsWith(title))).toEqual([])
  })

  it('is a rollback though every node ran the new version by then', () => {
    const fake = pausedAt(1, { steps: [{ replicas: 5, pause: {} }, { replicas: '100%' }] })
    fake.act({ id: 'j', type: 'jump', expectedStep: 1, step: 1 })
    settle(fake)
    for (const pod of [...fake.oldPods()]) fake.pods.splice(fake.pods.indexOf(pod), 1)
    settle(fake)
    expect(fake.oldPods()).toEqual([])
    fake.setImage('v1')
    settle(fake)
    expect([fake.oldPods().length, condition(fake, 'Succeeded')?.status, fake.rollout?.status?.stableRevision]).toEqual([
      0,
      'False',
      'hash-v1',
    ])
  })

  it('publishes the stable revision as both, so that the rolled-back version counts as superseded and goes first (G5)', () => {
    const fake = pausedAt(2)
    fake.setImage('v1')
    while (fake.release?.status?.flight?.revision !== 'hash-v1') act(fake)
    expect(fake.daemonSet.metadata.annotations).toMatchObject({
      [daemonSetAnnotations.canaryRevision]: 'hash-v1',
      [daemonSetAnnotations.stableRevision]: 'hash-v1',
      [daemonSetAnnotations.partition]: '0',
    })
  })

  it('stops in a pause and is still a rollback when that ends (G9)', () => {
    const fake = pausedAt(2)
    fake.pause(true)
    fake.setImage('v1')
    settle(fake)
    expect([reasonOf(fake), fake.oldPods().length]).toEqual(['Paused', 3])
    fake.pause(false)
    const reasons = new Set<string>()
    settle(fake, () => reasons.add(reasonOf(fake)))
    expect([...reasons]).toEqual(expect.arrayContaining(['Cancelling', 'Completed']))
    expect(condition(fake, 'Succeeded')?.status).toBe('False')
  })

  it('may be followed by the rolled-back version, as a release from its first step', () => {
    const fake = pausedAt(2)
    fake.setImage('v1')
    while (fake.rollout?.status?.rollbackFrom === undefined) act(fake)
    fake.setImage('v2')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      canaryStatus: { stableRevision: 'hash-v1' },
    })
    expect(fake.rollout?.status).not.toHaveProperty('rollbackFrom')
  })

  it('is an ordinary release once the release has ended', () => {
    const fake = pausedAt(1)
    fake.act({ id: 'p', type: 'promote' })
    settle(fake)
    fake.setImage('v1')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      canaryStatus: { stableRevision: 'hash-v2' },
    })
  })
})

describe('is a rollback when the strategy was restored, and the Rollout does not report it yet', () => {
  it.each([
    ['Finalizing', 'binding'],
    ['Finalizing', 'release'],
    ['Completed', 'binding'],
    ['Completed', 'release'],
  ] as const)('is a rollback that is not over before it was made (BatchRelease %s, %s; G6, G7)', (phase, scope) => {
    const fake = pausedAt(1, { scope })
    fake.act({ id: 'p', type: 'promote' })
    while (!isGivenBack(fake)) act(fake)
    while (fake.release?.status?.phase !== phase) fake.passRelease()
    fake.setImage('v1')
    settle(fake, () => {
      if (fake.rollout?.status?.phase === 'Healthy') expect(fake.oldPods()).toEqual([])
      if (fake.release?.status?.flight?.state === 'open')
        expect(fake.daemonSet.metadata.annotations).toHaveProperty([daemonSetAnnotations.inProgressing])
    })
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', rollbackFrom: 'hash-v2', stableRevision: 'hash-v1' })
    expect(condition(fake, 'Succeeded')?.status).toBe('False')
  })

  it('is one, too, where it was paused when it started (G9)', () => {
    const fake = pausedAt(1)
    fake.act({ id: 'p', type: 'promote' })
    while (!isGivenBack(fake)) act(fake)
    fake.pause(true)
    fake.setImage('v1')
    settle(fake)
    expect([fake.rollout?.status?.phase, fake.release?.status?.phase, fake.oldPods().length]).toEqual(['Progressing', 'Preparing', 5])
    fake.pause(false)
    settle(fake)
    expect([fake.rollout?.status?.phase, fake.oldPods().length]).toEqual(['Healthy', 0])
  })
})

describe('a rollback in batches', () => {
  it('walks the steps that take a node back, with their pauses', () => {
    const fake = pausedAt(2, {
      steps: [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '80%', pause: {} }, { replicas: '100%' }],
    })
    annotate(fake, rolloutAnnotations.rollbackInBatch, 'true')
    fake.setImage('v1')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      currentStepIndex: 2,
      currentStepState: 'StepPaused',
      rollbackFrom: 'hash-v2',
      message: expect.stringMatching(/^rolling back from revision hash-v2, step 2 of 4 \(60%\) is ready and waits for approval/),
    })
    expect(fake.oldPods()).toHaveLength(2)
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(fake)
    expect([fake.rollout?.status?.currentStepIndex, fake.oldPods().length]).toEqual([3, 1])
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(fake)
    expect([fake.rollout?.status?.phase, fake.oldPods().length, condition(fake, 'Succeeded')?.status]).toEqual(['Healthy', 0, 'False'])
  })

  it('continues without pauses once the annotation is gone', () => {
    const fake = pausedAt(2)
    annotate(fake, rolloutAnnotations.rollbackInBatch, 'true')
    fake.setImage('v1')
    settle(fake)
    expect(fake.rollout?.status?.currentStepState).toBe('StepPaused')
    annotate(fake, rolloutAnnotations.rollbackInBatch, 'false')
    settle(fake)
    expect([fake.rollout?.status?.phase, fake.oldPods().length]).toEqual(['Healthy', 0])
  })
})

describe('templates that overtake one another', () => {
  it.each([
    [['v2', 'v3'], 'hash-v1'],
    [['v2', 'v3', 'v4', 'v2'], 'hash-v1'],
    [['v2', 'v1', 'v2'], 'hash-v1'],
    [['v2', 'v1', 'v3'], 'hash-v1'],
  ])('v1 and then %j: the last one starts at step 1, and stable is still %s', (images, stable) => {
    const fake = healthy()
    for (const image of images) {
      fake.setImage(image)
      settle(fake)
    }
    expect(fake.rollout?.status).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      stableRevision: stable,
      canaryStatus: { canaryRevision: `hash-${images.at(-1)}`, stableRevision: stable },
    })
  })

  it('keep the stable revision though no node runs it any more (v1, v2 everywhere, v3 rolled back)', () => {
    const fake = pausedAt(2)
    for (const pod of [...fake.oldPods()]) fake.pods.splice(fake.pods.indexOf(pod), 1)
    settle(fake)
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status?.canaryStatus).toMatchObject({ canaryRevision: 'hash-v3', stableRevision: 'hash-v1' })
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect([fake.image(), fake.oldPods().length, fake.rollout?.status?.phase]).toEqual(['v1', 0, 'Healthy'])
  })
})

describe('a Rollout that is recreated where one was frozen', () => {
  it.each([
    [1, 1, 'StepPaused'],
    [3, 2, 'StepPaused'],
  ])('continues in steps that %i updated nodes fill: step %i, %s', (updated, step, state) => {
    const fake = pausedAt(1)
    if (updated > 1) fake.act({ id: 'j', type: 'jump', expectedStep: 1, step: 2 })
    while (fake.pods.filter(({ hash, ready }) => hash === 'hash-v2' && ready).length < updated) act(fake)
    const { spec, metadata } = fake.rollout!
    fake.deleteRollout()
    settle(fake)
    expect(fake.rollout).toBeUndefined()
    fake.rollout = {
      metadata: { namespace: 'demo', name: 'agent', uid: 'rollout', resourceVersion: '1', generation: metadata.generation ?? 1 },
      spec,
    }
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: step, currentStepState: state, stableRevision: 'hash-v1' })
    expect(fake.daemonSet.metadata.annotations).not.toHaveProperty([daemonSetAnnotations.frozen])
  })
})

it('counts nodes in a pause as they change, not as they were when it started', () => {
  const fake = pausedAt(1)
  fake.pause(true)
  settle(fake)
  for (const pod of fake.oldPods().slice(0, 2)) fake.pods.splice(fake.pods.indexOf(pod), 1)
  settle(fake)
  expect(fake.rollout?.status?.canaryStatus).toMatchObject({ canaryReplicas: 3, canaryReadyReplicas: 3 })
  expect(reasonOf(fake)).toBe('Paused')
})

function healthy(options: FakeClusterOptions = {}): FakeCluster {
  const fake = new FakeCluster({ steps, ...options })
  settle(fake)
  return fake
}

/** A release of v2 over v1 that pauses at this step. */
function pausedAt(step: number, options: FakeClusterOptions = {}): FakeCluster {
  const fake = healthy(options)
  fake.setImage('v2')
  settle(fake)
  for (let at = 1; at < step; at++) {
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(fake)
  }
  return fake
}

function isGivenBack({ release, daemonSet }: FakeCluster): boolean {
  return release?.status?.phase === 'Finalizing' && !(daemonSetAnnotations.controlInfo in (daemonSet.metadata.annotations ?? {}))
}

function annotate(fake: FakeCluster, key: string, value: string): void {
  const { metadata } = fake.rollout!
  fake.rollout = { ...fake.rollout!, metadata: { ...metadata, annotations: { ...metadata.annotations, [key]: value } } }
}

function condition(fake: FakeCluster, type: string): { readonly status: string } | undefined {
  return fake.rollout?.status?.conditions?.find((one) => one.type === type)
}

function reasonOf(fake: FakeCluster): string {
  return fake.rollout?.status?.conditions?.find(({ type }) => type === 'Progressing')?.reason ?? ''
}
