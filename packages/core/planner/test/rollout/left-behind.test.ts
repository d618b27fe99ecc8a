import type { RolloutStep } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { toFleetView } from '@tranche/fleet'
import { foundPolicy, planRollout, type RolloutView, strategyOf } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { applyUnread, settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const pause = { duration: 0 }
const same = (view: RolloutView): RolloutView => view

const obstacles: readonly [string, (view: RolloutView) => RolloutView][] = [
  ['PolicyInvalid', (view) => ({ ...view, policy: foundPolicy({ metadata: namedCareful, spec: { soak: { step: 'a while' } } }) })],
  ['PolicyNotFound', (view) => ({ ...view, policy: { kind: 'missing', name: 'careful' } })],
  ['WorkloadNotFound', (view) => ({ ...view, daemonSet: undefined })],
  ['OpenKruiseActive', (view) => ({ ...view, kruise: { lease: 'manager', holder: 'manager-0', activeForMs: 12_000 } })],
]

describe('a release that is over but for one node', () => {
  it.each(obstacles)('is stopped by %s, and ends once that is gone (G6, F9)', (reason, spoil) => {
    const fake = leftBehind()
    fake.readsAs = spoil
    settle(fake)
    expect(fake.release?.status?.flight).toMatchObject({ state: 'stopped', holds: [{ reason }] })
    fake.readsAs = same
    settle(fake)
    expect(fake.release?.spec.tranche).toMatchObject({ paused: false })
    expect(fake.release?.spec.tranche).not.toHaveProperty('hold')
    expect(fake.rollout?.status?.message).toContain('1 node is left behind')
    bringBack(fake)
    expectGivenBack(fake)
  })

  it.each<[string, (fake: FakeCluster) => void, (fake: FakeCluster) => void]>([
    ['the generation moves in the same moment', () => {}, (fake) => fake.editRollout((spec) => ({ ...spec }))],
    ['it is paused meanwhile', (fake) => fake.pause(true), (fake) => fake.pause(false)],
    ['its steps change meanwhile', (fake) => setSteps(fake, [{ replicas: 1 }, { replicas: '100%' }]), () => {}],
    ['its steps break the rules meanwhile', (fake) => setSteps(fake, []), (fake) => setSteps(fake, [{ replicas: '100%' }])],
    ['its node is back meanwhile', (fake) => fake.nodes.set('node-4', { ready: true, bad: false }), () => {}],
    ['the BatchRelease is recreated meanwhile', (fake) => (fake.release = undefined), () => {}],
  ])('ends though %s, with a policy that is invalid for a while (G6, F9)', (_what, meanwhile, then) => {
    const fake = leftBehind()
    fake.policy = { soak: { step: 'a while' } }
    settle(fake)
    meanwhile(fake)
    settle(fake)
    fake.policy = { maxUnavailable: 1 }
    then(fake)
    settle(fake)
    bringBack(fake)
    expectGivenBack(fake)
  })

  it('moves on to the next template that came while its policy was invalid', () => {
    const fake = leftBehind()
    fake.policy = { soak: { step: 'a while' } }
    settle(fake)
    fake.setImage('v3')
    settle(fake)
    expect(fake.oldPods()).toHaveLength(5)
    fake.policy = undefined
    settle(fake)
    bringBack(fake)
    expect(fake.rollout?.status?.stableRevision).toBe('hash-v3')
    expectGivenBack(fake)
  })

  it.each<[string, (fake: FakeCluster) => void]>([
    ['deleted', (fake) => fake.deleteRollout()],
    ['disabled', (fake) => fake.editRollout((spec) => ({ ...spec, disabled: true }))],
  ])('is detached where its Rollout is %s while its policy is invalid', (_how, end) => {
    const fake = leftBehind()
    fake.policy = { soak: { step: 'a while' } }
    settle(fake)
    end(fake)
    settle(fake)
    expect(fake.release).toBeUndefined()
  })

  it('keeps the selectors of its own steps, which match its sizes, when the Rollout gets others (G6)', () => {
    const [a, b] = [{ matchLabels: { pool: 'a' } }, { matchLabels: { pool: 'b' } }]
    const fake = leftBehind([{ replicas: '100%', nodes: a, pause }, { replicas: '50%', nodes: b, pause }, { replicas: '100%' }])
    setSteps(fake, [{ replicas: '100%' }])
    settle(fake)
    expect(fake.release?.status?.waiting).toMatchObject({ reason: 'NodesLeft' })
    bringBack(fake)
    expectGivenBack(fake)
  })
})

describe('a node that a release left', () => {
  it('stops the release when the version fails there (G9), and the Rollout names the ways out', () => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Healthy',
      message: expect.stringContaining('failed on nodes that its release had left: 1 of 5 nodes failed (tolerated: 0): node-3'),
      failure: { reason: 'ReleaseFailed', nodes: ['node-3'], stops: true },
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'ReleaseFailed' }),
        expect.objectContaining({ type: 'Ready', status: 'False' }),
        expect.objectContaining({ type: 'StrategyRestored', status: 'False', reason: 'NodesLeft' }),
      ]),
    })
    fake.nodes.set('node-4', { ready: true, bad: false })
    settle(fake)
    expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-4'])
  })

  it('is said to keep its pod where another one fails, unless there is none or the policy excludes it', () => {
    const kept = 'the other nodes left keep their pods'
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    expect(fake.rollout?.status?.message).toContain(`${kept}; run tranche retry agent -n demo to update them all the same, or`)
    const alone = twoLeft(['node-3'])
    returnBad(alone, 'node-3')
    expect(alone.rollout?.status?.message).not.toContain(kept)
    expect(alone.rollout?.status?.message).toContain('; run tranche retry agent -n demo to accept that, or tranche undo')
    fake.policy = { nodes: { exclude: [{ matchLabels: { pool: 'gpu' } }] } }
    const labels = { pool: 'gpu' }
    fake.readsAs = (view) => ({
      ...view,
      fleet: toFleetView(view.fleet.nodes.map((node) => (node.name === 'node-4' ? { ...node, labels } : node))),
    })
    settle(fake)
    expect(fake.rollout?.status?.message).toContain('failed on nodes that its release had left')
    expect(fake.rollout?.status?.message).not.toContain(kept)
  })

  it('refuses an abort then, and names undo and retry', () => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect(fake.rollout?.status?.lastAction).toMatchObject({
      result: 'Refused',
      reason: expect.stringMatching(/has ended, so there is nothing to abort: run tranche undo agent .* or tranche retry agent/),
    })
  })

  it('is updated after a retry, which accepts the failure', () => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    fake.act({ id: 'r', type: 'retry' })
    fake.nodes.set('node-4', { ready: true, bad: false })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', lastAction: { result: 'Accepted' } })
    expect(fake.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')).toMatchObject({ status: 'False' })
    expect(fake.oldPods()).toEqual([])
  })

  it('is not updated after a retry that names a step, because its author saw a failure of the release (G10)', () => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    fake.act({ id: 'r', type: 'retry', expectedStep: 1 })
    settle(fake)
    expect(fake.rollout?.status?.lastAction).toMatchObject({ result: 'Refused', reason: expect.stringContaining('has ended') })
  })

  it('is updated after a pause and a resume, which accept the failure like a retry', () => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    fake.pause(true)
    settle(fake)
    fake.nodes.set('node-4', { ready: true, bad: false })
    fake.pause(false)
    settle(fake)
    expect(fake.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')).toMatchObject({ status: 'False' })
    expect(fake.oldPods()).toEqual([])
  })

  it('stops the release though a retry had accepted an earlier failure of it', () => {
    const fake = new FakeCluster({ steps: [{ replicas: '100%' }], scope: 'release', maxUnavailable: 4 })
    settle(fake)
    fake.nodes.set('node-0', { ready: true, bad: true })
    for (const name of ['node-3', 'node-4']) fake.nodes.set(name, { ready: false, bad: false })
    fake.setImage('v2')
    settle(fake)
    fake.nowMs += 700_000
    settle(fake)
    fake.act({ id: 'accept', type: 'retry' })
    settle(fake)
    expect([fake.rollout?.status?.phase, fake.rollout?.status?.failure]).toEqual(['Healthy', undefined])
    returnBad(fake, 'node-3')
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', reason: 'ReleaseFailed' }))
  })

  it('is judged, too, where it was lost in mid-update', () => {
    const fake = new FakeCluster({ steps: [{ replicas: '100%' }], scope: 'release', maxUnavailable: 5 })
    settle(fake)
    fake.setImage('v2')
    const terminating = (): readonly string[] => fake.pods.filter((pod) => pod.terminating).map(({ node }) => node)
    for (let round = 0; round < 40 && terminating().length === 0; round++) {
      fake.passRollout()
      fake.passRelease()
      if (!fake.passExecutor() || terminating().length === 0) fake.actNatively()
    }
    const [taken = ''] = terminating()
    fake.nodes.set(taken, { ready: false, bad: false })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', message: expect.stringContaining(taken) })
    expect(fake.release?.spec.tranche?.left).toEqual({ nodes: [taken] })
  })

  it('is judged, too, where it was dead and without a pod when the release ended', () => {
    const fake = twoLeft(['node-3'], ['node-4'])
    expect(fake.release?.spec.tranche?.left).toEqual({ nodes: ['node-3', 'node-4'] })
    returnBad(fake, 'node-4')
    expect(fake.rollout?.status?.failure?.nodes).toEqual(['node-4'])
    fake.nodes.set('node-3', { ready: true, bad: false })
    settle(fake)
    expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-3'])
  })

  it('is not joined by one that the release had updated, and that dies later and loses its pod', () => {
    const fake = twoLeft()
    losePod(fake, 'node-0')
    settle(fake)
    expect(fake.release?.spec.tranche?.left).toEqual({ nodes: ['node-3', 'node-4'] })
  })

  it('keeps control of the DaemonSet while it is back with its old pod, and Kubernetes has not removed its taint yet (G1)', () => {
    const fake = twoLeft([], [])
    expectGivenBack(fake)
    fake.nodes.set('node-3', { ready: false, bad: false, isTainted: true })
    fake.setImage('v3')
    settle(fake)
    fake.nodes.set('node-3', { ready: true, bad: false, isTainted: true })
    settle(fake)
    expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-3'])
    expect(fake.daemonSet.spec.updateStrategy?.type).toBe('OnDelete')
    fake.nodes.set('node-3', { ready: true, bad: false })
    settle(fake)
    expect(fake.oldPods()).toEqual([])
    expectGivenBack(fake)
  })

  it('is not one that is dead and without a pod: it returns with the present template, so the DaemonSet is given back', () => {
    const fake = twoLeft([], ['node-4'])
    expectGivenBack(fake)
  })

  it('is in the list of nodes to judge again after another client emptied the list', () => {
    const fake = twoLeft()
    const release = fake.release!
    fake.release = { ...release, spec: { ...release.spec, tranche: { ...release.spec.tranche, left: { nodes: [] } } } }
    settle(fake)
    expect(fake.release?.spec.tranche?.left).toEqual({ nodes: ['node-3', 'node-4'] })
    returnBad(fake, 'node-3')
    expect(fake.release?.spec.tranche?.left).toEqual({ nodes: ['node-3', 'node-4'] })
    expect(fake.rollout?.status?.failure?.nodes).toEqual(['node-3'])
  })

  it('stops nothing where a node fails that the release had updated', () => {
    const fake = twoLeft()
    fake.nodes.set('node-0', { ready: true, bad: true })
    settle(fake)
    fake.nowMs += 700_000
    settle(fake)
    fake.nodes.set('node-4', { ready: true, bad: false })
    settle(fake)
    expect(fake.rollout?.status?.failure).toBeUndefined()
    expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-3'])
  })

  it.each([
    ['rests while its BatchRelease stays', {}, 'Healthy'],
    ['begins again once its BatchRelease is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }, 'Progressing'],
  ])('leaves a release that %s, after a template was changed and changed back', (_what, deleting, phase) => {
    const fake = twoLeft()
    const release = { ...fake.release!, metadata: { ...fake.release!.metadata, ...deleting } }
    for (const name of ['node-3', 'node-4']) fake.nodes.set(name, { ready: true, bad: false })
    settle(fake)
    const view = fake.rolloutView()!
    const { metadata, status } = view.daemonSet!
    const generation = metadata.generation! + 2
    const annotations = { ...metadata.annotations, [daemonSetAnnotations.inProgressing]: '{}' }
    const daemonSet = {
      ...view.daemonSet!,
      metadata: { ...metadata, annotations, generation },
      status: { ...status!, observedGeneration: generation },
    }
    expect(planRollout({ ...view, release, daemonSet })).toMatchObject({ kind: 'writeStatus', status: { phase } })
  })

  describe('and its release after the status of the Rollout was lost', () => {
    it('is stopped as before (G9)', () => {
      const fake = twoLeft()
      returnBad(fake, 'node-3')
      loseStatus(fake)
      fake.nodes.set('node-4', { ready: true, bad: false })
      settle(fake)
      expect(fake.rollout?.status).toMatchObject({
        phase: 'Healthy',
        stableRevision: 'hash-v2',
        failure: { nodes: ['node-3'], stops: true },
      })
      expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-4'])
    })

    it('is blocked when another template has replaced it in the meantime (G12)', () => {
      const fake = twoLeft()
      returnBad(fake, 'node-3')
      loseStatus(fake)
      fake.setImage('v1')
      settle(fake)
      expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed' }])
    })

    it('is not the one that a BatchRelease of another Rollout describes', () => {
      const fake = twoLeft()
      const { metadata, spec } = fake.release!
      const ownerReferences = metadata.ownerReferences?.map((owner) => ({ ...owner, uid: 'another' })) ?? []
      const foreign = {
        ...fake.release!,
        metadata: { ...metadata, ownerReferences },
        spec: { ...spec, tranche: { ...spec.tranche!, canaryRevision: 'hash-v9' } },
      }
      loseStatus(fake)
      const plan = planRollout({ ...fake.rolloutView()!, release: foreign })
      expect(plan).toMatchObject({ kind: 'writeStatus', status: { phase: 'Initial', canaryStatus: { canaryRevision: '' } } })
    })

    it('remembers what a retry accepted', () => {
      const fake = twoLeft()
      returnBad(fake, 'node-3')
      fake.act({ id: 'r', type: 'retry' })
      settle(fake)
      fake.act(undefined)
      loseStatus(fake)
      settle(fake)
      expect(fake.rollout?.status?.acceptedActions).toEqual({ retry: 'r' })
      expect(fake.release?.spec.tranche?.retry).toBe('r')
    })

    it.each([
      { templates: [], former: ['hash-v1'] },
      { templates: ['v3'], former: ['hash-v1'] },
      { templates: ['v3', 'v1'], former: undefined },
    ])('knows the former revisions of its dead nodes after $templates (G1)', ({ templates, former }) => {
      const fake = twoLeft()
      for (const template of templates) {
        fake.setImage(template)
        settle(fake)
      }
      expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy' })
      expect(fake.rollout?.status?.formerRevisions).toEqual(former)
      loseStatus(fake)
      settle(fake)
      expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy' })
      expect(fake.rollout?.status?.formerRevisions).toEqual(former)
    })

    it('counts no dead node of a former revision in the next release (G1)', () => {
      const fake = twoLeft()
      loseStatus(fake)
      settle(fake)
      fake.setImage('v3')
      settle(fake)
      expect(fake.release?.spec.tranche).toMatchObject({ stableRevision: 'hash-v2', formerRevisions: ['hash-v1'] })
    })

    it('lifts no failure for a retry that may have been answered before (G10)', () => {
      const fake = twoLeft()
      fake.act({ id: 'r', type: 'retry' })
      settle(fake)
      returnBad(fake, 'node-3')
      loseStatus(fake)
      settle(fake)
      expect(fake.rollout?.status).toMatchObject({ lastAction: { id: 'r', result: 'Refused' }, failure: { stops: true } })
    })
  })

  it('makes way for the next template after its failure', () => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    fake.setImage('v1')
    for (const name of ['node-3', 'node-4']) fake.nodes.set(name, { ready: true, bad: false })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1' })
    expectGivenBack(fake)
  })
})

describe('a release that is over', () => {
  it('ends the BatchRelease that a client recreates in its initial form (G6, G8)', () => {
    const fake = new FakeCluster({ steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }], scope: 'release' })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    const first = fake.release!
    expect(first.spec.releasePlan.batchPartition).toBe(0)
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(fake)
    expect(fake.release).toBeUndefined()
    const { status: _none, ...made } = first
    fake.release = { ...made, metadata: { ...made.metadata, uid: 'made-late' } }
    settle(fake)
    expectGivenBack(fake)
  })
})

describe('a failure on a node that a release left, which has healed since,', () => {
  const notReady = { ready: false, bad: false }
  it.each([
    ['a client deletes the BatchRelease', notReady, deleteRelease],
    ['a client deletes the BatchRelease with its finalizer', notReady, removeRelease],
    ['a client deletes the BatchRelease while the other node is dead', { ...notReady, isTainted: true }, deleteRelease],
    ['a client deletes the BatchRelease with its finalizer while the other node is dead', { ...notReady, isTainted: true }, removeRelease],
    ['the Rollout is disabled and enabled again', notReady, disableAndEnable],
  ])('stops the other nodes left until a retry, though %s (G7, G9, G12)', (_what, down, interrupt) => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    fake.nodes.set('node-3', { ready: true, bad: false })
    fake.nodes.set('node-4', down)
    settle(fake)
    interrupt(fake)
    settle(fake)
    bringBack(fake)
    expectStopped(fake)
    fake.act({ id: 'again', type: 'retry' })
    settle(fake)
    expectGivenBack(fake)
  })

  it.each<[string, (fake: FakeCluster) => void]>([
    ['a client deletes the BatchRelease', deleteRelease],
    ['a client deletes the BatchRelease with its finalizer', removeRelease],
    ['the Rollout is disabled and enabled again', disableAndEnable],
  ])('and that came after a retry, stops the other nodes left, though %s (G7, G12)', (_what, interrupt) => {
    const fake = twoLeft(['node-2', 'node-3', 'node-4'])
    returnBad(fake, 'node-2')
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    returnBad(fake, 'node-3')
    for (const name of ['node-2', 'node-3']) fake.nodes.set(name, { ready: true, bad: false })
    settle(fake)
    interrupt(fake)
    settle(fake)
    bringBack(fake)
    expectStopped(fake)
    fake.act({ id: 'again', type: 'retry' })
    settle(fake)
    expectGivenBack(fake)
  })

  it('stops the other nodes left until a retry, though a manifest replaces the DaemonSet (G9, G12)', () => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    fake.nodes.set('node-3', { ready: true, bad: false })
    settle(fake)
    fake.replaceDaemonSet()
    settle(fake)
    bringBack(fake)
    expectStopped(fake)
    fake.act({ id: 'again', type: 'retry' })
    settle(fake)
    expect([fake.oldPods(), fake.release]).toEqual([[], undefined])
  })

  it('is over with its BatchRelease once no node is left (G6)', () => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    fake.nodes.set('node-3', { ready: true, bad: false })
    settle(fake)
    deleteRelease(fake)
    fake.nodes.delete('node-4')
    settle(fake)
    expectGivenBack(fake)
  })
})

const namedCareful = { namespace: 'demo', name: 'careful', uid: 'careful', resourceVersion: '1', generation: 1 }

it('blocks a version that failed on a node left and is replaced before the next BatchRelease judges it (G12)', () => {
  const fake = twoLeft()
  returnBad(fake, 'node-3')
  expect(fake.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')?.reason).toBe('ReleaseFailed')
  fake.release = undefined
  for (let pass = 0; pass < 5; pass++) fake.passRollout()
  expect(fake.rollout?.status?.phase).toBe('Progressing')
  fake.setImage('v1')
  settle(fake)
  expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed' }])
})

it.each([1, 2, 3, 5, 20])(
  'blocks a version that failed in its release, after its BatchRelease was deleted %s passes before another template (G7, G12)',
  (passes) => {
    const fake = new FakeCluster({ steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    fake.latch()
    settle(fake)
    fake.release = undefined
    for (let pass = 0; pass < passes; pass++) {
      fake.passRollout()
      fake.passRelease()
    }
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed' }])
  },
)

describe('a version that failed on a node left, and is applied again before a pass reads the template that replaced it,', () => {
  it.each<[string, (fake: FakeCluster) => void]>([
    ['the policy says Continue later', continueLater],
    ['its node heals later, and the policy says autoResume', resumeLater],
    ['another client has deleted its BatchRelease', whileReleaseIsGone],
    ['the Rollout was disabled meanwhile', whileDisabled],
  ])('is blocked, also where %s (G12)', (_what, replace) => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    replace(fake)
    settle(fake)
    bringBack(fake)
    expectBlocked(fake)
  })

  it('is blocked, also where a retry was written before and not read, and another retry updates the nodes left (G10, G12)', () => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    fake.act({ id: 'early', type: 'retry' })
    applyUnread(fake, 'v3', 'v2')
    settle(fake)
    expect(fake.rollout?.status?.lastAction).toMatchObject({ id: 'early', result: 'Refused' })
    bringBack(fake)
    expectBlocked(fake)
    fake.act({ id: 'again', type: 'retry' })
    settle(fake)
    heal(fake)
    expectGivenBack(fake)
  })

  it('is not blocked where a retry accepted the failure before, and its release does not begin again (G6)', () => {
    const fake = twoLeft()
    returnBad(fake, 'node-3')
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    const release = fake.release?.spec.tranche?.release
    applyUnread(fake, 'v3', 'v2')
    settle(fake)
    expect([fake.rollout?.status?.phase, fake.release?.spec.tranche?.release]).toEqual(['Healthy', release])
    bringBack(fake)
    heal(fake)
    expect(fake.rollout?.status).not.toHaveProperty('heldRevisions')
    expectGivenBack(fake)
  })

  it('is not blocked where it was replaced before it failed, when another field of the DaemonSet changes later (G12)', () => {
    const fake = twoLeft()
    applyUnread(fake, 'v3', 'v2')
    settle(fake)
    returnBad(fake, 'node-3')
    settle(fake)
    expect(fake.rollout?.status?.failure).toBeDefined()
    fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, minReadySeconds: 1 } })
    fake.actNatively()
    settle(fake)
    expect(fake.rollout?.status).not.toHaveProperty('heldRevisions')
    expect(fake.rollout?.status?.failure).toBeDefined()
  })

  function continueLater(fake: FakeCluster): void {
    applyUnread(fake, 'v3', 'v2')
    settle(fake)
    fake.policy = { failure: { action: 'Continue' } }
  }

  function resumeLater(fake: FakeCluster): void {
    applyUnread(fake, 'v3', 'v2')
    settle(fake)
    fake.policy = { failure: { autoResume: '1m' } }
    heal(fake)
    fake.nowMs += 300_000
  }

  function whileReleaseIsGone(fake: FakeCluster): void {
    applyUnread(fake, 'v3', 'v2')
    removeRelease(fake)
  }

  function whileDisabled(fake: FakeCluster): void {
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(fake)
    applyUnread(fake, 'v3', 'v2')
    fake.editRollout((spec) => ({ ...spec, disabled: false }))
  }

  function heal(fake: FakeCluster): void {
    fake.nodes.set('node-3', { ready: true, bad: false })
    fake.nowMs += 60_000
    settle(fake)
  }

  /** Blocked, and the other node left keeps its pod. */
  function expectBlocked(fake: FakeCluster): void {
    expect(fake.rollout?.status).toMatchObject({
      heldRevisions: [{ revision: 'hash-v2', reason: 'Failed', reverted: true }],
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'RevisionHeld' })]),
    })
    expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-4'])
  }
})

it('blocks it though its BatchRelease is gone before the DaemonSet controller has observed the next template (G12)', () => {
  const fake = twoLeft()
  returnBad(fake, 'node-3')
  fake.setImage('v1')
  fake.readsAs = unobserved
  for (let pass = 0; pass < 5; pass++) fake.passRollout()
  expect(fake.rollout?.status).toMatchObject({
    message: expect.stringContaining('waiting for the DaemonSet controller to observe'),
    conditions: expect.arrayContaining([expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'ReleaseFailed' })]),
  })
  fake.release = undefined
  fake.readsAs = same
  settle(fake)
  expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed' }])
})

it('calls no version failed that has not failed, while the DaemonSet controller has yet to observe the next template', () => {
  const fake = twoLeft()
  fake.setImage('v1')
  fake.readsAs = unobserved
  for (let pass = 0; pass < 5; pass++) fake.passRollout()
  expect(fake.rollout?.status?.message).toContain('waiting for the DaemonSet controller to observe')
  expect(fake.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')?.status).toBe('False')
})

/** The DaemonSet controller has not observed the present generation. */
function unobserved(view: RolloutView): RolloutView {
  const { daemonSet } = view
  if (daemonSet === undefined) return view
  return {
    ...view,
    daemonSet: { ...daemonSet, status: { ...daemonSet.status, observedGeneration: (daemonSet.metadata.generation ?? 1) - 1 } },
  }
}

function leftBehind(steps: readonly RolloutStep[] = [{ replicas: '100%' }]): FakeCluster {
  const fake = new FakeCluster({ steps, scope: 'release' })
  settle(fake)
  fake.nodes.set('node-4', { ready: false, bad: false })
  fake.setImage('v2')
  settle(fake)
  expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', message: expect.stringContaining('1 node is left behind') })
  return fake
}

/** A release ends without some nodes. @param old nodes that are NotReady with an old pod @param without nodes that are dead, not desired, and without a pod */
function twoLeft(old: readonly string[] = ['node-3', 'node-4'], without: readonly string[] = []): FakeCluster {
  const fake = new FakeCluster({ steps: [{ replicas: '100%' }], scope: 'release' })
  settle(fake)
  for (const name of old) fake.nodes.set(name, { ready: false, bad: false })
  for (const name of without) losePod(fake, name)
  fake.setImage('v2')
  settle(fake)
  const text = old.length === 0 ? 'is current' : `${old.length} ${old.length === 1 ? 'node is' : 'nodes are'} left behind`
  expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', message: expect.stringContaining(text) })
  return fake
}

/** Removes the status, as a restored backup does. */
function loseStatus(fake: FakeCluster): void {
  const { status: _lost, ...rest } = fake.rollout!
  fake.rollout = rest
}

/** The node dies, is not desired because of that, and its pod is deleted. */
function losePod(fake: FakeCluster, node: string): void {
  fake.nodes.set(node, { ready: false, bad: false, isTainted: true })
  fake.pods = fake.pods.filter((pod) => pod.node !== node)
}

/** The node returns, and the new version does not become available there before its deadline. */
function returnBad(fake: FakeCluster, node: string): void {
  fake.nodes.set(node, { ready: true, bad: true })
  settle(fake)
  fake.nowMs += 700_000
  settle(fake)
}

function deleteRelease(fake: FakeCluster): void {
  const { metadata } = fake.release!
  fake.release = { ...fake.release!, metadata: { ...metadata, deletionTimestamp: new Date(fake.nowMs).toISOString() } }
}

function removeRelease(fake: FakeCluster): void {
  fake.release = undefined
}

function disableAndEnable(fake: FakeCluster): void {
  fake.editRollout((spec) => ({ ...spec, disabled: true }))
  settle(fake)
  fake.editRollout((spec) => ({ ...spec, disabled: false }))
}

function bringBack(fake: FakeCluster): void {
  fake.nodes.set('node-4', { ready: true, bad: false })
  settle(fake)
}

/** Stopped by a failure, and the other node left keeps its pod. */
function expectStopped(fake: FakeCluster): void {
  expect(fake.rollout?.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'ReleaseFailed' }),
  )
  expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-4'])
}

function expectGivenBack(fake: FakeCluster): void {
  expect(fake.rollout?.status?.phase).toBe('Healthy')
  expect(fake.oldPods()).toEqual([])
  expect(fake.release).toBeUndefined()
  expect(strategyOf(fake.daemonSet)).toBe('RollingUpdate')
  expect(fake.daemonSet.metadata.annotations).not.toHaveProperty([daemonSetAnnotations.controlInfo])
}

function setSteps(fake: FakeCluster, steps: readonly RolloutStep[]): void {
  fake.editRollout((spec) => ({ ...spec, strategy: { ...spec.strategy, canary: { steps } } }))
}
