import type { RolloutStatus } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations, WORKLOAD_TYPE_LABEL } from '@tranche/kube-types'
import { planRollout, type RolloutPlan, strategyOf } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster, type FakeClusterOptions } from '../../../../../test/fakes/fake-cluster.ts'

const threeSteps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]

describe('a Rollout without a release', () => {
  it('gets its finalizer, is bound, and has a complete first status', () => {
    const fake = new FakeCluster()
    expect(planOf(fake)).toEqual({ kind: 'setFinalizer', present: true })
    fake.passRollout()
    expect(planOf(fake)).toMatchObject({ kind: 'patchDaemonSet', why: 'bind' })
    fake.passRollout()
    const plan = planOf(fake)
    expect(plan).toMatchObject({
      kind: 'writeStatus',
      status: { phase: 'Initial', message: expect.stringContaining('observe generation 2') },
    })
    expect(canaryOf(plan)).toMatchObject({
      podTemplateHash: '',
      currentStepIndex: 2,
      nextStepIndex: -1,
      currentStepState: 'Completed',
      finalisingStep: '',
    })
  })

  it('is Healthy and Ready once the DaemonSet is observed', () => {
    const fake = healthy()
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Healthy',
      observedGeneration: 1,
      stableRevision: 'hash-v1',
      currentStepState: 'Completed',
    })
    expect(conditions(fake)).toMatchObject({ Ready: 'True', Reconciling: 'False', Stalled: 'False' })
    expect(fake.daemonSet.metadata).toMatchObject({
      annotations: { [daemonSetAnnotations.rollout]: 'agent' },
      labels: { [WORKLOAD_TYPE_LABEL]: 'daemonset' },
    })
  })

  it('reports the current revision and the number of available nodes, every five seconds at most', () => {
    const fake = healthy()
    expect(fake.rollout?.status?.message).toBe('revision hash-v1 is current; 5 of 5 nodes are available')
    fake.pods.pop()
    const view = fake.rolloutView()!
    expect(planRollout({ ...view, statusWrittenMs: view.monotonicMs - 4_000 })).toMatchObject({ kind: 'wait', recheckAfterMs: 1_000 })
    expect(planRollout({ ...view, statusWrittenMs: view.monotonicMs - 5_000 })).toMatchObject({
      kind: 'writeStatus',
      status: { phase: 'Healthy', message: 'revision hash-v1 is current; 4 of 5 nodes are available; not available: node-4' },
    })
  })

  it.each([
    ['the generation that its status describes', 0],
    ['an older one', 1],
  ])('starts no release again where a lagging watch shows the keys of the one that ended, at %s', (_which, older) => {
    const fake = ended()
    const seen = (fake.daemonSet.metadata.generation ?? 0) - 1
    fake.setCanaryStatus({ observedWorkloadGeneration: seen })
    expect(planOf(withKeys(fake, { generation: seen - older }))).not.toMatchObject({ status: { phase: 'Progressing' } })
  })

  it.each(['release', 'binding'] as const)(
    'starts no release again where a lagging watch shows a restored template, with a strategy per %s',
    (scope) => {
      const cluster = released({ scope, steps: [{ replicas: '100%' }] })
      const { metadata } = cluster.daemonSet
      cluster.setCanaryStatus({ observedWorkloadGeneration: metadata.generation ?? 0 })
      const annotations = { ...metadata.annotations, [daemonSetAnnotations.reverted]: 'hash-v1' }
      cluster.daemonSet = { ...cluster.daemonSet, metadata: { ...metadata, annotations } }
      expect(planOf(cluster)).not.toMatchObject({ status: { phase: 'Progressing' } })
    },
  )

  it('starts one to restore the strategy if admission takes it over for each release by now', () => {
    const cluster = released({ scope: 'binding', steps: [{ replicas: '100%' }] })
    expect(strategyOf(cluster.daemonSet)).toBe('OnDelete')
    const view = { ...cluster.rolloutView()!, strategyScope: 'release' } as const
    expect(planRollout(view)).toMatchObject({ kind: 'writeStatus', status: { phase: 'Progressing' } })
  })

  it('does not report the strategy as restored while it waits for the DaemonSet controller before that', () => {
    const cluster = released({ scope: 'binding', steps: [{ replicas: '100%' }] })
    const { daemonSet, ...view } = cluster.rolloutView()!
    const unobserved = { ...daemonSet!, status: { ...daemonSet!.status!, observedGeneration: 0 } }
    const plan = planRollout({ ...view, daemonSet: unobserved, strategyScope: 'release' })
    expect(statusOf(plan).conditions?.find(({ type }) => type === 'StrategyRestored')).toMatchObject({ reason: 'Bound' })
  })

  it.each([
    ['changed since', { generation: 99 }],
    ['created since', { generation: 1, creationTimestamp: '2999-01-01T00:00:00Z' }],
  ])('starts one to restore the strategy of a DaemonSet that has such keys and was %s', (_how, metadata) => {
    expect(planOf(withKeys(ended(), metadata))).toMatchObject({ kind: 'writeStatus', status: { phase: 'Progressing' } })
  })

  it('writes no stored status while the API server drops our fields, and reports it in an event (F11)', () => {
    const fake = healthy()
    const gap = 'the CustomResourceDefinitions are older ones'
    fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, template: { spec: { containers: [] } } } as never })
    const outdated = { ...fake.rolloutView()!, schemaGap: gap, statusWrittenMs: null }
    expect(planRollout(outdated)).toEqual({
      ...{ kind: 'wait', for: gap, recheckAfterMs: null },
      warning: { type: 'Warning', reason: 'CRDOutdated', message: gap },
    })
  })

  it('reports once in the status of a new Rollout that our fields are dropped, in fields that the API server keeps', () => {
    const fake = healthy()
    fake.policy = { maxUnavailable: 1 }
    const { status: _stored, ...unseen } = fake.rolloutView()!.rollout
    const gap = 'the CustomResourceDefinitions are older ones'
    const outdated = { ...fake.rolloutView()!, rollout: unseen, schemaGap: gap, statusWrittenMs: null }
    const plan = planRollout(outdated)
    expect(plan).toMatchObject({ kind: 'writeStatus' })
    const { observedGeneration, phase, message, conditions: said, canaryStatus, ...rest } = statusOf(plan)
    const { currentStepIndex, currentStepState, ...dropped } = rest
    expect(dropped).toEqual({})
    const status = { observedGeneration, phase, message, conditions: said, canaryStatus, currentStepIndex, currentStepState }
    expect(planRollout({ ...outdated, rollout: { ...outdated.rollout, status } })).toEqual({ kind: 'wait', for: gap, recheckAfterMs: null })
  })

  it('touches the DaemonSet where no ControllerRevision has held the template for 30 s, so that its controller syncs again (G6)', () => {
    const fake = healthy()
    const base = { ...fake.rolloutView()!, revisions: [], statusWrittenMs: null }
    const rollout = { ...base.rollout, status: statusOf(planRollout(base)) }
    const missingFor = (ms: number) => planRollout({ ...base, rollout, revisionMissingSinceMs: base.monotonicMs - ms })
    const message = 'waiting for the DaemonSet controller to store the template in a ControllerRevision'
    expect(missingFor(29_000)).toEqual({ kind: 'wait', for: message, recheckAfterMs: 1_000 })
    const touched = missingFor(30_000)
    expect(touched).toMatchObject({ kind: 'patchDaemonSet', why: 'touch', event: null })
    expect(JSON.stringify(touched)).toContain('/metadata/annotations/tranche.dev~1touched')
  })

  it('touches no DaemonSet while OpenKruise’s controller is active', () => {
    const fake = healthy()
    const kruise = { lease: 'manager', holder: 'manager-0', activeForMs: 12_000 }
    const base = { ...fake.rolloutView()!, revisions: [], kruise, statusWrittenMs: null }
    const rollout = { ...base.rollout, status: statusOf(planRollout(base)) }
    const plan = planRollout({ ...base, rollout, revisionMissingSinceMs: base.monotonicMs - 60_000 })
    expect(plan).toMatchObject({ kind: 'wait' })
  })

  it('removes its touch of the DaemonSet once a ControllerRevision holds the template', () => {
    const fake = healthy()
    fake.editDaemonSet({
      metadata: { ...fake.daemonSet.metadata, annotations: { ...fake.daemonSet.metadata.annotations, 'tranche.dev/touched': 'x' } },
    })
    settle(fake)
    expect(fake.daemonSet.metadata.annotations).not.toHaveProperty(['tranche.dev/touched'])
  })

  it('is Healthy though no node is available', () => {
    const fake = new FakeCluster()
    fake.pods = fake.pods.map((pod) => ({ ...pod, ready: false, readyFromMs: null }))
    for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: false, bad: false })
    for (let pass = 0; pass < 9; pass++) {
      fake.passRollout()
      fake.actNatively()
      fake.pods = fake.pods.map((pod) => ({ ...pod, ready: false, readyFromMs: null }))
    }
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Healthy',
      message: 'revision hash-v1 is current; 0 of 5 nodes are available; not available: node-0, node-1, node-2 and 2 more',
    })
  })

  it('reports at once why it is stalled, even when only the message changes', () => {
    const fake = healthy()
    const budget = (maxUnavailable: number | string): void =>
      fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable } } } })
    budget('banana')
    settle(fake)
    budget(0)
    fake.actNatively()
    const view = fake.rolloutView()!
    expect(stalledBy(planRollout({ ...view, statusWrittenMs: view.monotonicMs }))).toEqual({
      reason: 'BudgetZero',
      message: expect.stringContaining('maxUnavailable is 0'),
    })
  })

  it('waits for another controller when its workload is no DaemonSet, and writes nothing', () => {
    const fake = new FakeCluster()
    fake.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, kind: 'Deployment' } }))
    expect(planOf(fake)).toMatchObject({ kind: 'wait', for: expect.stringContaining('another controller') })
  })

  it('stalls with WorkloadNotFound while the DaemonSet does not exist', () => {
    const fake = healthy()
    const view = { ...fake.rolloutView()!, daemonSet: undefined, revisions: [] }
    expect(stalledBy(planRollout(view))).toEqual({ reason: 'WorkloadNotFound', message: expect.stringContaining('no such DaemonSet') })
  })

  it('stalls with WorkloadTaken while an older Rollout has the DaemonSet, and does not bind it', () => {
    const fake = new FakeCluster()
    fake.passRollout()
    const view = fake.rolloutView()!
    const other = { ...view.rollout, metadata: { ...view.rollout.metadata, name: 'aaa', uid: 'other' } }
    expect(stalledBy(planRollout({ ...view, others: [view.rollout, other] }))?.reason).toBe('WorkloadTaken')
  })

  it('stalls with InvalidSpec when steps shrink, and names the field', () => {
    const fake = healthy()
    setSteps(fake, [{ replicas: '60%' }, { replicas: '20%' }])
    expect(stalledBy(planOf(fake))).toEqual({ reason: 'InvalidSpec', message: expect.stringContaining('steps[1]') })
  })

  it('stalls while a BatchRelease of its name belongs to another owner, and leaves that one alone', () => {
    const fake = new FakeCluster()
    fake.setImage('v2')
    for (let pass = 0; pass < 20 && fake.release === undefined; pass++) act(fake)
    const { metadata, spec } = fake.release!
    fake.release = { metadata: { ...metadata, ownerReferences: [] }, spec }
    expect(stalledBy(planOf(fake))?.reason).toBe('ForeignControl')
    fake.passRollout()
    expect(planOf(fake).kind).toBe('setAnnotations')
    fake.passRollout()
    expect(planOf(fake).kind).toBe('wait')
  })

  it('releases to nodes that were left on an old revision while it was disabled', () => {
    const fake = healthy()
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(fake)
    fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, updateStrategy: { type: 'OnDelete' } } })
    fake.setImage('v2')
    fake.actNatively()
    fake.pods.pop()
    settle(fake)
    fake.setImage('v1')
    fake.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(fake)
    expect(fake.oldPods()).toEqual([])
    expect(fake.rollout?.status?.phase).toBe('Healthy')
  })
})

describe('a release', () => {
  it('pauses at a step until a user writes StepReady, and never by itself', () => {
    const fake = released({ steps: threeSteps })
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 1, nextStepIndex: 2, currentStepState: 'StepPaused', canaryReplicas: 1 })
    expect(fake.rollout?.status?.message).toMatch(/step 1 of 3 \(20%\) is ready and waits for approval since .*Z/)
    fake.nowMs += 1e9
    settle(fake)
    expect(canaryIn(fake)?.currentStepIndex).toBe(1)
    approve(fake)
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 2, nextStepIndex: 3, currentStepState: 'StepPaused', canaryReplicas: 3 })
    approve(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v2' })
    expect(conditions(fake)).toMatchObject({ Succeeded: 'True', Progressing: 'False', StrategyRestored: 'True' })
  })

  it('reports when its settling ends', () => {
    const fake = healthy({ steps: [{ replicas: '100%' }] })
    fake.setImage('v2')
    const messages = new Set<string>()
    settle(fake, () => messages.add(fake.rollout?.status?.message ?? ''))
    expect([...messages]).toContainEqual(expect.stringMatching(/^settling: becomes Healthy at .*Z if nothing crashes; 5 of 5 nodes/))
  })

  it('does not pause at a last step of 100%', () => {
    expect(released({ steps: [{ replicas: '100%', pause: {} }] }).rollout?.status?.phase).toBe('Healthy')
  })

  it('waits at a step whose nodes are all NotReady, and pauses for its whole time once one of them is updated (G3)', () => {
    const fake = healthy({ steps: [{ replicas: '20%', pause: { duration: 300 } }, { replicas: '100%' }] })
    const nodes = [...fake.nodes.keys()]
    for (const node of nodes) fake.nodes.set(node, { ready: false, bad: false })
    fake.setImage('v2')
    for (const endMs = fake.nowMs + 400_000; fake.nowMs < endMs; fake.nowMs += 200) act(fake)
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepUpgrade', canaryReplicas: 0 })
    expect(fake.rollout?.status?.waitingFor).toMatchObject({ reason: 'NoNodeInReach', nodes, since: expect.any(String) })
    for (const node of nodes) fake.nodes.set(node, { ready: true, bad: false })
    for (const endMs = fake.nowMs + 100_000; fake.nowMs < endMs; fake.nowMs += 200) act(fake)
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused', canaryReplicas: 1 })
    for (const endMs = fake.nowMs + 400_000; fake.nowMs < endMs; fake.nowMs += 200) act(fake)
    expect(fake.oldPods()).toEqual([])
  })

  it('pauses again once a step whose only updated node was removed has another one (G3)', () => {
    const fake = healthy({ steps: [{ replicas: '20%', pause: { duration: 300 } }, { replicas: '100%' }] })
    fake.setImage('v2')
    for (let round = 0; round < 40; round++) act(fake)
    expect(canaryIn(fake)).toMatchObject({ currentStepState: 'StepPaused', canaryReplicas: 1 })
    fake.nodes.delete(fake.pods.find(({ hash }) => hash === 'hash-v2')!.node)
    fake.nowMs += 290_000
    for (let round = 0; round < 20; round++) act(fake)
    expect(canaryIn(fake)).toMatchObject({ currentStepState: 'StepPaused', canaryReplicas: 1 })
    fake.nowMs += 290_000
    for (let round = 0; round < 20; round++) act(fake)
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused', canaryReplicas: 1 })
  })

  it('pauses at a last step below 100%, and then updates the rest as a separate batch', () => {
    const fake = released({ steps: [{ replicas: '40%', pause: {} }] })
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 1, nextStepIndex: -1, currentStepState: 'StepPaused', canaryReplicas: 2 })
    approve(fake)
    expect(fake.rollout?.status?.phase).toBe('Healthy')
    expect(fake.oldPods()).toEqual([])
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 1, nextStepIndex: -1 })
  })

  it('puts back a StepReady that is written while no step is paused, with a warning (G10)', () => {
    const fake = healthy({ steps: threeSteps })
    fake.setImage('v2')
    for (let pass = 0; pass < 30 && canaryIn(fake)?.currentStepState !== 'StepUpgrade'; pass++) act(fake)
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(fake)
    expect(fake.warnings).toEqual([expect.stringContaining('put back')])
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  })

  it('jumps to the step that a user writes into nextStepIndex', () => {
    const fake = released({ steps: [...threeSteps.slice(0, 2), { replicas: '80%', pause: {} }, { replicas: '100%' }] })
    fake.setCanaryStatus({ nextStepIndex: 3 })
    settle(fake)
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 3, nextStepIndex: 4, canaryReplicas: 4 })
  })

  it('puts back an invalid nextStepIndex, with a warning', () => {
    const fake = released({ steps: threeSteps })
    fake.setCanaryStatus({ nextStepIndex: 9 })
    settle(fake)
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 1, nextStepIndex: 2 })
    expect(fake.warnings).toEqual([expect.stringMatching(/nextStepIndex was set to 9 but the steps are 1 to 3, so it was put back to 2/)])
  })

  it('puts back a nextStepIndex that is written while no release runs, with a warning', () => {
    const fake = healthy({ steps: threeSteps })
    fake.setCanaryStatus({ nextStepIndex: 2 })
    settle(fake)
    expect(canaryIn(fake)?.nextStepIndex).toBe(-1)
    expect(fake.warnings).toEqual([expect.stringContaining('there is no step to leave')])
  })

  it('warns of no nextStepIndex that is our own from before the steps changed', () => {
    const fake = released({ steps: [...threeSteps, { replicas: '100%' }] })
    setSteps(fake, [{ replicas: '20%', pause: {} }])
    settle(fake)
    setSteps(fake, threeSteps)
    settle(fake)
    expect(fake.warnings).toEqual([])
  })

  it('continues when a timed pause is over, and reports when', () => {
    const fake = released({ steps: [{ replicas: '20%', pause: { duration: 60 } }, { replicas: '100%' }] }, 20_000)
    expect(planOf(fake)).toMatchObject({ kind: 'wait', recheckAfterMs: expect.any(Number) })
    fake.nowMs += 60_000
    settle(fake)
    expect(fake.rollout?.status?.phase).toBe('Healthy')
  })

  it('does not continue after a timed pause while the new version is unhealthy, and names the nodes', () => {
    const fake = released({ steps: [{ replicas: '20%', pause: { duration: 300 } }, { replicas: '100%' }] }, 20_000)
    for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad: true })
    for (let round = 0; round < 4; round++) act(fake)
    expect(fake.rollout?.status?.message).toMatch(/pauses for 300 s since .*; not healthy now: .* on node-\d/)
    fake.nowMs += 300_000
    settle(fake)
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    expect(fake.rollout?.status?.message).toMatch(/pause is over, but it is not healthy: .* on node-\d \(since/)
  })

  it('starts again at step 1 when the template changes in the middle', () => {
    const fake = released({ steps: threeSteps })
    approve(fake)
    fake.setImage('v3')
    settle(fake)
    expect(canaryIn(fake)).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      canaryRevision: 'hash-v3',
      stableRevision: 'hash-v1',
    })
  })

  it('rolls back to the stable revision without a pause, whatever the steps', () => {
    const fake = released({ steps: [{ replicas: '40%', pause: {} }] })
    fake.setImage('v1')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1' })
    expect(fake.oldPods()).toEqual([])
  })

  it('continues at the last step that is no larger when steps are removed under it', () => {
    const fake = released({ steps: threeSteps })
    approve(fake)
    setSteps(fake, [{ replicas: '20%', pause: {} }, { replicas: '100%' }])
    fake.setCanaryStatus({ currentStepIndex: 3 })
    settle(fake)
    expect(canaryIn(fake)).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    expect(fake.oldPods()).toHaveLength(2)
  })

  it('is put on an existing step though it is paused, so that the pause can be acknowledged', () => {
    const fake = released({ steps: threeSteps })
    approve(fake)
    setSteps(fake, [{ replicas: '100%' }])
    fake.pause(true)
    settle(fake)
    expect(canaryIn(fake)?.currentStepIndex).toBe(1)
    expect(reason(fake)).toBe('Paused')
    expect(fake.oldPods()).toHaveLength(2)
  })

  it('reports in a pause, too, that Kubernetes has taken over, because an approval does not fix that', () => {
    const fake = released({ steps: threeSteps })
    for (const _time of ['first', 'second']) {
      fake.editDaemonSet({
        spec: { ...fake.daemonSet.spec, updateStrategy: { ...fake.daemonSet.spec.updateStrategy, type: 'RollingUpdate' } },
      })
      settle(fake)
    }
    expect(conditions(fake)).toMatchObject({ Stalled: 'True' })
    expect(fake.rollout?.status?.message).toMatch(
      /waits for approval since .*; updateStrategy.type was changed to RollingUpdate .* or retry/,
    )
  })

  it('ends though its plan is replaced after the last step, before its BatchRelease has the end (G6)', () => {
    const fake = released({ steps: [{ replicas: '100%' }] }, 0)
    for (let pass = 0; pass < 60 && canaryIn(fake)?.finalisingStep !== 'ResumeWorkload'; pass++) act(fake)
    expect(canaryIn(fake)?.finalisingStep).toBe('ResumeWorkload')
    expect(fake.release?.spec.releasePlan.batchPartition).toBe(0)
    setSteps(fake, [{ replicas: '20%', pause: {} }, { replicas: '100%' }])
    settle(fake)
    expect(fake.rollout?.status?.phase).toBe('Healthy')
    expect(fake.oldPods()).toEqual([])
  })

  it('is stopped, without a guess, when the spec becomes invalid in the middle', () => {
    const fake = released({ steps: threeSteps })
    setSteps(fake, [])
    settle(fake)
    expect(fake.release?.status?.flight?.state).toBe('stopped')
    expect(conditions(fake)).toMatchObject({ Stalled: 'True' })
    expect(fake.rollout?.status).toMatchObject({ phase: 'Progressing', observedGeneration: 2 })
    setSteps(fake, threeSteps)
    settle(fake)
    expect(fake.release?.status?.flight?.state).toBe('open')
  })

  it('has observed a spec that became invalid only when the record is stopped (G9)', () => {
    const fake = released({ steps: threeSteps })
    setSteps(fake, [])
    for (let pass = 0; fake.release?.status?.flight?.state !== 'stopped' && pass < 20; pass++) {
      expect(fake.rollout?.status?.observedGeneration).toBe(1)
      act(fake)
    }
    settle(fake)
    expect(fake.rollout?.status?.observedGeneration).toBe(2)
  })
})

describe('a pause', () => {
  it('is acknowledged only when the record is stopped (G9)', () => {
    const fake = released({ steps: threeSteps })
    fake.pause(true)
    for (let pass = 0; fake.release?.status?.flight?.state !== 'stopped' && pass < 20; pass++) {
      expect([reason(fake), fake.rollout?.status?.observedGeneration]).toEqual(['InRolling', 1])
      act(fake)
    }
    settle(fake)
    expect(reason(fake)).toBe('Paused')
    expect(fake.rollout?.status).toMatchObject({
      observedGeneration: 2,
      message: expect.stringContaining('paused by spec.strategy.paused since'),
    })
    fake.pause(false)
    const said = new Set<string | undefined>()
    settle(fake, () => reason(fake) === 'InRolling' && said.add(fake.rollout?.status?.message))
    expect([...said][0]).toBe('spec.strategy.paused was cleared: the release continues')
  })

  it('stops the final batch, too, which then continues where it was', () => {
    const fake = released({ steps: [{ replicas: '40%', pause: {} }] })
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    for (let pass = 0; reason(fake) !== 'Finalising' && pass < 30; pass++) act(fake)
    fake.pause(true)
    settle(fake)
    expect(reason(fake)).toBe('Paused')
    expect(fake.release?.status?.flight?.state).toBe('stopped')
    const old = fake.oldPods().length
    expect(old).toBeGreaterThan(0)
    fake.pause(false)
    settle(fake)
    expect(fake.rollout?.status?.phase).toBe('Healthy')
  })

  it('stops the update of left nodes', () => {
    const fake = leftBehind()
    fake.pause(true)
    settle(fake)
    expect(fake.release?.status?.flight?.state).toBe('stopped')
    expect(fake.rollout?.status?.observedGeneration).toBe(2)
  })
})

describe('nodes that are left behind', () => {
  it('do not keep the release from being Healthy; the condition names them', () => {
    const fake = leftBehind()
    expect(conditions(fake)).toMatchObject({ Ready: 'True', Succeeded: 'True', StrategyRestored: 'False' })
    expect(fake.rollout?.status?.message).toContain('node-4')
    expect(fake.daemonSet.metadata.annotations).not.toHaveProperty([daemonSetAnnotations.inProgressing])
  })

  it('are updated when they are back, and then the strategy is restored', () => {
    const fake = leftBehind()
    fake.nodes.set('node-4', { ready: true, bad: false })
    settle(fake, () => {
      if (fake.release !== undefined && fake.release.status?.phase !== 'Completed')
        expect(conditions(fake)).toMatchObject({ StrategyRestored: 'False' })
    })
    expect(fake.oldPods()).toEqual([])
    expect(fake.release).toBeUndefined()
    expect(conditions(fake)).toMatchObject({ StrategyRestored: 'True' })
  })

  it('leave the condition before their BatchRelease is deleted, so that a lagging watch starts no release again', () => {
    const fake = leftBehind()
    fake.nodes.set('node-4', { ready: true, bad: false })
    settle(fake, () => {
      if (planOf(fake).kind === 'deleteRelease') expect(conditions(fake)).toMatchObject({ StrategyRestored: 'True' })
    })
    expect(fake.release).toBeUndefined()
    const seen = (fake.daemonSet.metadata.generation ?? 0) - 1
    fake.setCanaryStatus({ observedWorkloadGeneration: seen })
    expect(planOf(withKeys(fake, { generation: seen }))).not.toMatchObject({ status: { phase: 'Progressing' } })
  })
})

describe.each([
  ['another kind', { kind: 'Deployment' }],
  ['another DaemonSet', { name: 'other' }],
])('a workloadRef that names %s in mid-release', (_what, change) => {
  it('detaches from the DaemonSet: it is frozen, unbound, and its BatchRelease is gone', () => {
    const fake = released({ steps: threeSteps })
    fake.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, ...change } }))
    expect(planOf(fake)).toEqual({ kind: 'deleteRelease' })
    settle(fake)
    expect(fake.release).toBeUndefined()
    expect(fake.daemonSet.metadata.labels).toEqual({})
    expect(Object.keys(fake.daemonSet.metadata.annotations ?? {}).toSorted()).toEqual(
      [daemonSetAnnotations.originalUpdateStrategy, daemonSetAnnotations.frozen].toSorted(),
    )
    expect([strategyOf(fake.daemonSet), fake.oldPods().length]).toEqual(['OnDelete', 4])
  })

  it('restores the strategy where no release runs', () => {
    const fake = healthy()
    fake.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, ...change } }))
    settle(fake)
    expect(strategyOf(fake.daemonSet)).toBe('RollingUpdate')
    expect(fake.daemonSet.metadata.annotations).toEqual({})
  })

  it('does not delay a deletion of the Rollout', () => {
    const fake = released({ steps: threeSteps })
    fake.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, ...change } }))
    fake.deleteRollout()
    settle(fake)
    expect([fake.rollout, fake.release]).toEqual([undefined, undefined])
    expect(fake.daemonSet.metadata.annotations).not.toHaveProperty([daemonSetAnnotations.rollout])
  })
})

describe('a Rollout whose workload became another kind', () => {
  it('has no Tranche data in the end, and is left alone from then on', () => {
    const fake = released({ steps: threeSteps })
    fake.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, kind: 'Deployment' } }))
    settle(fake)
    expect(fake.rollout?.metadata.finalizers).toEqual([])
    expect(fake.rollout?.status).toMatchObject({ phase: 'Initial', message: expect.stringContaining('detached: '), conditions: [] })
    expect(fake.rollout?.status).not.toHaveProperty('stableRevision')
    const { metadata } = fake.rollout!
    fake.rollout = { ...fake.rollout!, metadata: { ...metadata, finalizers: ['rollouts.kruise.io/rollout'] } }
    expect(planOf(fake).kind).toBe('wait')
  })
})

describe('the end of control', () => {
  it('follows when the Rollout is disabled: the release stops, and the DaemonSet stays as it is', () => {
    const fake = released({ steps: threeSteps })
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    expect(planOf(fake)).toEqual({ kind: 'deleteRelease' })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Disabled',
      message: expect.stringMatching(/^disabled in mid-release: 4 of 5 nodes do not run revision hash-v2 .*to continue in steps/),
    })
    expect([strategyOf(fake.daemonSet), fake.oldPods().length]).toEqual(['OnDelete', 4])
    expect(fake.daemonSet.metadata.annotations).toHaveProperty([daemonSetAnnotations.frozen])
  })

  it.each([
    [
      'disabled',
      (fake: FakeCluster) => fake.editRollout((spec) => ({ ...spec, disabled: true })),
      'set spec.disabled of Rollout agent to false',
    ],
    ['deleted', (fake: FakeCluster) => fake.deleteRollout(), 'create a Rollout for DaemonSet agent'],
  ])('reports once what is left frozen when the Rollout is %s', (_how, end, enable) => {
    const fake = released({ steps: threeSteps })
    end(fake)
    settle(fake)
    expect(fake.frozen).toEqual([
      '4 of 5 nodes do not run revision hash-v2 of the template: 4 on revision hash-v1; updateStrategy.type stays OnDelete, so nothing updates them; ' +
        `to continue in steps, ${enable}; to let Kubernetes continue, set updateStrategy.type to RollingUpdate`,
    ])
  })

  it.each([
    ['disabled', 'Disabling', (fake: FakeCluster) => fake.editRollout((spec) => ({ ...spec, disabled: true }))],
    ['deleted', 'Terminating', (fake: FakeCluster) => fake.deleteRollout()],
  ])('names what the stop waits for when the Rollout is %s', (_how, phase, end) => {
    const fake = goingOf(end)
    const plan = planOf(fake)
    expect(plan).toMatchObject({ kind: 'writeStatus', status: { phase, message: expect.stringContaining('in flight: node-1 (since ') } })
  })

  it('is not Healthy while its last BatchRelease is still being deleted and nodes run another revision', () => {
    const fake = goingOf((cluster) => cluster.editRollout((spec) => ({ ...spec, disabled: true })))
    fake.editRollout((spec) => ({ ...spec, disabled: false }))
    for (let pass = 0; pass < 5; pass++) fake.passRollout()
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Progressing',
      message: expect.stringContaining('waiting for the previous BatchRelease to be deleted: '),
    })
  })

  it('does not report a frozen DaemonSet where none is left', () => {
    const fake = healthy()
    fake.deleteRollout()
    settle(fake)
    expect(fake.frozen).toEqual([])
  })

  it('starts no release for a Rollout that was disabled before its first one', () => {
    const fake = healthy()
    fake.setImage('v2')
    fake.actNatively()
    for (let pass = 0; fake.rollout?.status?.phase !== 'Progressing' && pass < 9; pass++) fake.passRollout()
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    for (let pass = 0; pass < 9; pass++) {
      expect(planOf(fake).kind).not.toBe('createRelease')
      fake.passRollout()
    }
  })

  it('follows the deletion of a Rollout, which is removed last', () => {
    const fake = released({ steps: threeSteps })
    fake.deleteRollout()
    settle(fake)
    expect([fake.rollout, fake.release]).toEqual([undefined, undefined])
  })

  it('restores the strategy where no node runs an old pod', () => {
    const fake = healthy()
    fake.deleteRollout()
    settle(fake)
    expect(strategyOf(fake.daemonSet)).toBe('RollingUpdate')
    expect(fake.daemonSet.metadata.annotations).toEqual({})
    expect(fake.daemonSet.metadata.labels).toEqual({})
  })

  it('freezes old nodes though no release had started', () => {
    const fake = healthy()
    fake.setImage('v2')
    fake.actNatively()
    fake.deleteRollout()
    settle(fake)
    expect(strategyOf(fake.daemonSet)).toBe('OnDelete')
    expect(JSON.parse(fake.daemonSet.metadata.annotations?.[daemonSetAnnotations.frozen] ?? '{}')).toMatchObject({
      revision: 'hash-v2',
      nodesLeft: 5,
    })
  })

  it('freezes old nodes that are out for a while, too, though no release had started (G3)', () => {
    const fake = healthy()
    fake.setImage('v2')
    fake.actNatively()
    for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad: false, isTainted: true })
    fake.deleteRollout()
    settle(fake)
    expect(strategyOf(fake.daemonSet)).toBe('OnDelete')
    expect(JSON.parse(fake.daemonSet.metadata.annotations?.[daemonSetAnnotations.frozen] ?? '{}')).toMatchObject({
      revision: 'hash-v2',
      stable: 'hash-v1',
      nodesLeft: 5,
    })
  })

  it('restores the strategy if only nodes run an old pod that were out when the last release completed', () => {
    const fake = healthy()
    fake.nodes.set('node-0', { ready: true, bad: false, isTainted: true })
    fake.pods = fake.pods.map((pod) => (pod.node === 'node-0' ? { ...pod, hash: 'hash-v0' } : pod))
    fake.deleteRollout()
    settle(fake)
    expect(strategyOf(fake.daemonSet)).toBe('RollingUpdate')
    expect(fake.frozen).toEqual([])
  })
})

it('leaves a BatchRelease alone that was written for a newer Rollout than its view shows (G9)', () => {
  const fake = healthy()
  fake.setImage('v2')
  settle(fake)
  const { rollout } = fake.rolloutView()!
  fake.pause(true)
  settle(fake)
  expect(fake.release?.spec.tranche?.paused).toBe(true)
  expect(planRollout({ ...fake.rolloutView()!, rollout }).kind).not.toBe('updateRelease')
})

function healthy(options: FakeClusterOptions = {}): FakeCluster {
  const fake = new FakeCluster(options)
  settle(fake)
  return fake
}

/** A release that has ended and restored the strategy. */
function ended(): FakeCluster {
  const fake = released({ scope: 'release', steps: [{ replicas: '100%' }] })
  expect(fake.rollout?.status?.phase).toBe('Healthy')
  expect(strategyOf(fake.daemonSet)).toBe('RollingUpdate')
  return fake
}

/** The DaemonSet has the keys and the strategy of a release. */
function withKeys(fake: FakeCluster, metadata: Partial<DaemonSet['metadata']> & { readonly generation: number }): FakeCluster {
  const annotations = { ...fake.daemonSet.metadata.annotations, [daemonSetAnnotations.originalUpdateStrategy]: 'RollingUpdate' }
  const { spec, status } = fake.daemonSet
  fake.daemonSet = {
    metadata: { ...fake.daemonSet.metadata, ...metadata, annotations },
    spec: { ...spec, updateStrategy: { ...spec.updateStrategy, type: 'OnDelete' } },
    status: { ...status!, observedGeneration: metadata.generation },
  }
  return fake
}

/** A release that is being ended, and whose BatchRelease waits for a node in flight. */
function goingOf(end: (fake: FakeCluster) => void): FakeCluster {
  const fake = released({ steps: threeSteps })
  end(fake)
  for (let pass = 0; pass < 3; pass++) fake.passRollout()
  const release = fake.release!
  const waiting = { reason: 'Deleting', message: 'nodes in flight: node-1', since: '2023-11-14T00:00:00Z', nodes: ['node-1'] }
  const metadata = { ...release.metadata, deletionTimestamp: '2023-11-14T00:00:00Z' }
  fake.release = { ...release, metadata, status: { ...release.status, waiting } }
  return fake
}

/** A release of v2, until it waits for a person; `withinMs` of the fake's clock. */
function released(options: FakeClusterOptions, withinMs?: number): FakeCluster {
  const fake = healthy(options)
  fake.setImage('v2')
  if (withinMs === undefined) settle(fake)
  else for (const endMs = fake.nowMs + withinMs; fake.nowMs < endMs; fake.nowMs += 200) act(fake)
  return fake
}

/** A release that has ended except for a NotReady node. */
function leftBehind(): FakeCluster {
  const fake = healthy({ steps: [{ replicas: '100%' }] })
  fake.nodes.set('node-4', { ready: false, bad: false })
  fake.setImage('v2')
  settle(fake)
  expect(fake.rollout?.status?.phase).toBe('Healthy')
  return fake
}

function approve(fake: FakeCluster): void {
  fake.setCanaryStatus({ currentStepState: 'StepReady' })
  settle(fake)
}

function setSteps(fake: FakeCluster, steps: NonNullable<FakeClusterOptions['steps']>): void {
  fake.editRollout((spec) => ({ ...spec, strategy: { ...spec.strategy, canary: { steps } } }))
}

function planOf(fake: FakeCluster): RolloutPlan {
  return planRollout(fake.rolloutView()!)
}

function canaryIn({ rollout }: FakeCluster): RolloutStatus['canaryStatus'] {
  return rollout?.status?.canaryStatus
}

function statusOf(plan: RolloutPlan): RolloutStatus {
  if (plan.kind !== 'writeStatus') throw new Error(`the plan is to ${plan.kind}`)
  return plan.status
}

function canaryOf(plan: RolloutPlan): RolloutStatus['canaryStatus'] {
  return plan.kind === 'writeStatus' ? plan.status.canaryStatus : undefined
}

function reason({ rollout }: FakeCluster): string | undefined {
  return rollout?.status?.conditions?.find(({ type }) => type === 'Progressing')?.reason
}

function conditions({ rollout }: FakeCluster): Readonly<Record<string, string>> {
  return Object.fromEntries((rollout?.status?.conditions ?? []).map(({ type, status }) => [type, status]))
}

function stalledBy(plan: RolloutPlan): { readonly reason: string; readonly message: string } | undefined {
  const stalled = plan.kind === 'writeStatus' ? plan.status.conditions?.find(({ type }) => type === 'Stalled') : undefined
  return stalled && { reason: stalled.reason, message: stalled.message }
}
