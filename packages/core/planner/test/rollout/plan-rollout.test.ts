import type { RolloutStatus } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations, WORKLOAD_TYPE_LABEL } from '@tranche/kube-types'
import { planRollout, type RolloutPlan, strategyOf } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster, type ToyOptions } from '../../../../../test/toys/toy-cluster.ts'

const threeSteps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]

describe('a Rollout without a release', () => {
  it('gets its finalizer, is bound, and says everything in its very first status', () => {
    const toy = new ToyCluster()
    expect(planOf(toy)).toEqual({ kind: 'setFinalizer', present: true })
    toy.passRollout()
    expect(planOf(toy)).toMatchObject({ kind: 'patchDaemonSet', why: 'bind' })
    toy.passRollout()
    const plan = planOf(toy)
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
    const toy = healthy()
    expect(toy.rollout?.status).toMatchObject({
      phase: 'Healthy',
      observedGeneration: 1,
      stableRevision: 'hash-v1',
      currentStepState: 'Completed',
    })
    expect(conditions(toy)).toMatchObject({ Ready: 'True', Reconciling: 'False', Stalled: 'False' })
    expect(toy.daemonSet.metadata).toMatchObject({
      annotations: { [daemonSetAnnotations.rollout]: 'agent' },
      labels: { [WORKLOAD_TYPE_LABEL]: 'daemonset' },
    })
  })

  it('says which revision is current and how many nodes are available, every five seconds at most', () => {
    const toy = healthy()
    expect(toy.rollout?.status?.message).toBe('revision hash-v1 is current; 5 of 5 nodes are available')
    toy.pods.pop()
    const view = toy.rolloutView()!
    expect(planRollout({ ...view, statusWrittenMs: view.monotonicMs - 4_000 })).toMatchObject({ kind: 'wait', recheckAfterMs: 1_000 })
    expect(planRollout({ ...view, statusWrittenMs: view.monotonicMs - 5_000 })).toMatchObject({
      kind: 'writeStatus',
      status: { phase: 'Healthy', message: 'revision hash-v1 is current; 4 of 5 nodes are available' },
    })
  })

  it.each([
    ['the generation that its status describes', 0],
    ['an older one', 1],
  ])('begins no release again where a lagging watch shows the keys of the one that ended, at %s', (_which, older) => {
    const toy = ended()
    const seen = (toy.daemonSet.metadata.generation ?? 0) - 1
    toy.setCanaryStatus({ observedWorkloadGeneration: seen })
    expect(planOf(withKeys(toy, { generation: seen - older }))).not.toMatchObject({ status: { phase: 'Progressing' } })
  })

  it.each([
    ['changed since', { generation: 99 }],
    ['created since', { generation: 1, creationTimestamp: '2999-01-01T00:00:00Z' }],
  ])('begins one to give the strategy back of a DaemonSet that has such keys and was %s', (_how, metadata) => {
    expect(planOf(withKeys(ended(), metadata))).toMatchObject({ kind: 'writeStatus', status: { phase: 'Progressing' } })
  })

  it('writes no status that is stored while the API server drops fields of ours, and says so in an event (F11)', () => {
    const toy = healthy()
    const gap = 'the CustomResourceDefinitions are older ones'
    toy.editDaemonSet({ spec: { ...toy.daemonSet.spec, template: { spec: { containers: [] } } } as never })
    const outdated = { ...toy.rolloutView()!, schemaGap: gap, statusWrittenMs: null }
    expect(planRollout(outdated)).toEqual({
      ...{ kind: 'wait', for: gap, recheckAfterMs: null },
      warning: { type: 'Warning', reason: 'CRDOutdated', message: gap },
    })
  })

  it('says once in the status of a new Rollout that fields of ours are dropped, with what the API server keeps of it', () => {
    const toy = healthy()
    const { status: _stored, ...unseen } = toy.rolloutView()!.rollout
    const gap = 'the CustomResourceDefinitions are older ones'
    const outdated = { ...toy.rolloutView()!, rollout: unseen, schemaGap: gap, statusWrittenMs: null }
    const plan = planRollout(outdated)
    expect(plan).toMatchObject({ kind: 'writeStatus' })
    const { observedGeneration, phase, message, conditions: said, canaryStatus, ...rest } = statusOf(plan)
    const { currentStepIndex, currentStepState, ...dropped } = rest
    expect(dropped).toEqual({})
    const status = { observedGeneration, phase, message, conditions: said, canaryStatus, currentStepIndex, currentStepState }
    expect(planRollout({ ...outdated, rollout: { ...outdated.rollout, status } })).toEqual({ kind: 'wait', for: gap, recheckAfterMs: null })
  })

  it('touches the DaemonSet where no ControllerRevision has held the template for 30 s, that its controller looks again (G6)', () => {
    const toy = healthy()
    const base = { ...toy.rolloutView()!, revisions: [], statusWrittenMs: null }
    const rollout = { ...base.rollout, status: statusOf(planRollout(base)) }
    const missingFor = (ms: number) => planRollout({ ...base, rollout, revisionMissingSinceMs: base.monotonicMs - ms })
    const message = 'waiting for the DaemonSet controller to keep the template in a ControllerRevision'
    expect(missingFor(29_000)).toEqual({ kind: 'wait', for: message, recheckAfterMs: 1_000 })
    const touched = missingFor(30_000)
    expect(touched).toMatchObject({ kind: 'patchDaemonSet', why: 'touch', event: null })
    expect(JSON.stringify(touched)).toContain('/metadata/annotations/tranche.dev~1touched')
  })

  it('touches no DaemonSet beside an active OpenKruise controller', () => {
    const toy = healthy()
    const peer = { lease: 'manager', holder: 'manager-0', activeForMs: 12_000 }
    const base = { ...toy.rolloutView()!, revisions: [], peer, statusWrittenMs: null }
    const rollout = { ...base.rollout, status: statusOf(planRollout(base)) }
    const plan = planRollout({ ...base, rollout, revisionMissingSinceMs: base.monotonicMs - 60_000 })
    expect(plan).toMatchObject({ kind: 'wait' })
  })

  it('removes its touch of the DaemonSet once a ControllerRevision holds the template', () => {
    const toy = healthy()
    toy.editDaemonSet({
      metadata: { ...toy.daemonSet.metadata, annotations: { ...toy.daemonSet.metadata.annotations, 'tranche.dev/touched': 'x' } },
    })
    settle(toy)
    expect(toy.daemonSet.metadata.annotations).not.toHaveProperty(['tranche.dev/touched'])
  })

  it('is Healthy though no node is available', () => {
    const toy = new ToyCluster()
    toy.pods = toy.pods.map((pod) => ({ ...pod, ready: false, readyFromMs: null }))
    for (const name of toy.nodes.keys()) toy.nodes.set(name, { ready: false, bad: false })
    for (let pass = 0; pass < 9; pass++) {
      toy.passRollout()
      toy.actNatively()
      toy.pods = toy.pods.map((pod) => ({ ...pod, ready: false, readyFromMs: null }))
    }
    expect(toy.rollout?.status).toMatchObject({
      phase: 'Healthy',
      message: 'revision hash-v1 is current; 0 of 5 nodes are available',
    })
  })

  it('says at once why it is stalled, also when only the words change', () => {
    const toy = healthy()
    const budget = (maxUnavailable: number | string): void =>
      toy.editDaemonSet({ spec: { ...toy.daemonSet.spec, updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable } } } })
    budget('banana')
    settle(toy)
    budget(0)
    toy.actNatively()
    const view = toy.rolloutView()!
    expect(stalledBy(planRollout({ ...view, statusWrittenMs: view.monotonicMs }))).toEqual({
      reason: 'BudgetZero',
      message: expect.stringContaining('maxUnavailable is 0'),
    })
  })

  it('waits for another controller when its workload is no DaemonSet, and writes nothing', () => {
    const toy = new ToyCluster()
    toy.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, kind: 'Deployment' } }))
    expect(planOf(toy)).toMatchObject({ kind: 'wait', for: expect.stringContaining('another controller') })
  })

  it('stalls with WorkloadNotFound while the DaemonSet does not exist', () => {
    const toy = healthy()
    const view = { ...toy.rolloutView()!, daemonSet: undefined, revisions: [] }
    expect(stalledBy(planRollout(view))).toEqual({ reason: 'WorkloadNotFound', message: expect.stringContaining('no such DaemonSet') })
  })

  it('stalls with WorkloadTaken while an older Rollout has the DaemonSet, and does not bind it', () => {
    const toy = new ToyCluster()
    toy.passRollout()
    const view = toy.rolloutView()!
    const other = { ...view.rollout, metadata: { ...view.rollout.metadata, name: 'aaa', uid: 'other' } }
    expect(stalledBy(planRollout({ ...view, others: [view.rollout, other] }))?.reason).toBe('WorkloadTaken')
  })

  it('stalls with InvalidSpec when steps shrink, and names the field', () => {
    const toy = healthy()
    setSteps(toy, [{ replicas: '60%' }, { replicas: '20%' }])
    expect(stalledBy(planOf(toy))).toEqual({ reason: 'InvalidSpec', message: expect.stringContaining('steps[1]') })
  })

  it('stalls while a BatchRelease of its name is not its own, and leaves that one alone', () => {
    const toy = new ToyCluster()
    toy.setImage('v2')
    for (let pass = 0; pass < 20 && toy.release === undefined; pass++) act(toy)
    const { metadata, spec } = toy.release!
    toy.release = { metadata: { ...metadata, ownerReferences: [] }, spec }
    expect(stalledBy(planOf(toy))?.reason).toBe('ForeignControl')
    toy.passRollout()
    expect(planOf(toy).kind).toBe('setAnnotations')
    toy.passRollout()
    expect(planOf(toy).kind).toBe('wait')
  })

  it('releases to nodes that were left on an old revision while it was disabled', () => {
    const toy = healthy()
    toy.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(toy)
    toy.editDaemonSet({ spec: { ...toy.daemonSet.spec, updateStrategy: { type: 'OnDelete' } } })
    toy.setImage('v2')
    toy.actNatively()
    toy.pods.pop()
    settle(toy)
    toy.setImage('v1')
    toy.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(toy)
    expect(toy.oldPods()).toEqual([])
    expect(toy.rollout?.status?.phase).toBe('Healthy')
  })
})

describe('a release', () => {
  it('pauses at a step until somebody says StepReady, and never by itself', () => {
    const toy = released({ steps: threeSteps })
    expect(canaryIn(toy)).toMatchObject({ currentStepIndex: 1, nextStepIndex: 2, currentStepState: 'StepPaused', canaryReplicas: 1 })
    expect(toy.rollout?.status?.message).toMatch(/step 1 of 3 \(20%\) is ready and waits for approval since .*Z/)
    toy.nowMs += 1e9
    settle(toy)
    expect(canaryIn(toy)?.currentStepIndex).toBe(1)
    approve(toy)
    expect(canaryIn(toy)).toMatchObject({ currentStepIndex: 2, nextStepIndex: 3, currentStepState: 'StepPaused', canaryReplicas: 3 })
    approve(toy)
    expect(toy.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v2' })
    expect(conditions(toy)).toMatchObject({ Succeeded: 'True', Progressing: 'False', StrategyRestored: 'True' })
  })

  it('says until when it settles', () => {
    const toy = healthy({ steps: [{ replicas: '100%' }] })
    toy.setImage('v2')
    const messages = new Set<string>()
    settle(toy, () => messages.add(toy.rollout?.status?.message ?? ''))
    expect([...messages]).toContainEqual(expect.stringMatching(/^settling: goes Healthy at .*Z if nothing crashes; 5 of 5 nodes/))
  })

  it('does not pause at a last step of 100%', () => {
    expect(released({ steps: [{ replicas: '100%', pause: {} }] }).rollout?.status?.phase).toBe('Healthy')
  })

  it('pauses anew once a step that paused with no updated node has one (G3)', () => {
    const toy = healthy({ steps: [{ replicas: '20%', pause: { duration: 300 } }, { replicas: '100%' }] })
    const nodes = [...toy.nodes.keys()]
    for (const node of nodes) toy.nodes.set(node, { ready: false, bad: false })
    toy.setImage('v2')
    for (let round = 0; round < 20; round++) act(toy)
    expect(canaryIn(toy)).toMatchObject({ currentStepState: 'StepPaused', canaryReplicas: 0 })
    toy.nowMs += 299_000
    for (const node of nodes) toy.nodes.set(node, { ready: true, bad: false })
    for (const endMs = toy.nowMs + 100_000; toy.nowMs < endMs; toy.nowMs += 200) act(toy)
    expect(canaryIn(toy)).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused', canaryReplicas: 1 })
    for (const endMs = toy.nowMs + 400_000; toy.nowMs < endMs; toy.nowMs += 200) act(toy)
    expect(toy.oldPods()).toEqual([])
  })

  it('pauses at a last step below 100%, and then does the rest as a batch of its own', () => {
    const toy = released({ steps: [{ replicas: '40%', pause: {} }] })
    expect(canaryIn(toy)).toMatchObject({ currentStepIndex: 1, nextStepIndex: -1, currentStepState: 'StepPaused', canaryReplicas: 2 })
    approve(toy)
    expect(toy.rollout?.status?.phase).toBe('Healthy')
    expect(toy.oldPods()).toEqual([])
    expect(canaryIn(toy)).toMatchObject({ currentStepIndex: 1, nextStepIndex: -1 })
  })

  it('puts a StepReady back that is written while no step is paused, with a warning (G10)', () => {
    const toy = healthy({ steps: threeSteps })
    toy.setImage('v2')
    for (let pass = 0; pass < 30 && canaryIn(toy)?.currentStepState !== 'StepUpgrade'; pass++) act(toy)
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(toy)
    expect(toy.warnings).toEqual([expect.stringContaining('put back')])
    expect(canaryIn(toy)).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  })

  it('jumps to the step that somebody writes into nextStepIndex', () => {
    const toy = released({ steps: [...threeSteps.slice(0, 2), { replicas: '80%', pause: {} }, { replicas: '100%' }] })
    toy.setCanaryStatus({ nextStepIndex: 3 })
    settle(toy)
    expect(canaryIn(toy)).toMatchObject({ currentStepIndex: 3, nextStepIndex: 4, canaryReplicas: 4 })
  })

  it('puts a nextStepIndex back that is no step, with a warning', () => {
    const toy = released({ steps: threeSteps })
    toy.setCanaryStatus({ nextStepIndex: 9 })
    settle(toy)
    expect(canaryIn(toy)).toMatchObject({ currentStepIndex: 1, nextStepIndex: 2 })
    expect(toy.warnings).toEqual([expect.stringMatching(/nextStepIndex was set to 9 and the steps are 1 to 3, so it was put back to 2/)])
  })

  it('puts a nextStepIndex back that is written while no release runs, with a warning', () => {
    const toy = healthy({ steps: threeSteps })
    toy.setCanaryStatus({ nextStepIndex: 2 })
    settle(toy)
    expect(canaryIn(toy)?.nextStepIndex).toBe(-1)
    expect(toy.warnings).toEqual([expect.stringContaining('there is no step to leave')])
  })

  it('warns of no nextStepIndex that is our own from before the steps changed', () => {
    const toy = released({ steps: [...threeSteps, { replicas: '100%' }] })
    setSteps(toy, [{ replicas: '20%', pause: {} }])
    settle(toy)
    setSteps(toy, threeSteps)
    settle(toy)
    expect(toy.warnings).toEqual([])
  })

  it('goes on when a timed pause is over, and says when', () => {
    const toy = released({ steps: [{ replicas: '20%', pause: { duration: 60 } }, { replicas: '100%' }] }, 20_000)
    expect(planOf(toy)).toMatchObject({ kind: 'wait', recheckAfterMs: expect.any(Number) })
    toy.nowMs += 60_000
    settle(toy)
    expect(toy.rollout?.status?.phase).toBe('Healthy')
  })

  it('does not go on after a timed pause while the new version is not well, and says on which nodes', () => {
    const toy = released({ steps: [{ replicas: '20%', pause: { duration: 300 } }, { replicas: '100%' }] }, 20_000)
    for (const name of toy.nodes.keys()) toy.nodes.set(name, { ready: true, bad: true })
    for (let round = 0; round < 4; round++) act(toy)
    expect(toy.rollout?.status?.message).toMatch(/pauses for 300 s since .*; not healthy now: .* on node-\d/)
    toy.nowMs += 300_000
    settle(toy)
    expect(canaryIn(toy)).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    expect(toy.rollout?.status?.message).toMatch(/pause is over, but it is not healthy: .* on node-\d \(since/)
  })

  it('starts again at step 1 when the template changes in the middle', () => {
    const toy = released({ steps: threeSteps })
    approve(toy)
    toy.setImage('v3')
    settle(toy)
    expect(canaryIn(toy)).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      canaryRevision: 'hash-v3',
      stableRevision: 'hash-v1',
    })
  })

  it('goes back to the stable revision without a pause, whatever the steps', () => {
    const toy = released({ steps: [{ replicas: '40%', pause: {} }] })
    toy.setImage('v1')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1' })
    expect(toy.oldPods()).toEqual([])
  })

  it('goes on at the last step that is no larger when steps are taken out under it', () => {
    const toy = released({ steps: threeSteps })
    approve(toy)
    setSteps(toy, [{ replicas: '20%', pause: {} }, { replicas: '100%' }])
    toy.setCanaryStatus({ currentStepIndex: 3 })
    settle(toy)
    expect(canaryIn(toy)).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    expect(toy.oldPods()).toHaveLength(2)
  })

  it('is put on a step that exists though it is paused, so that the pause can be acknowledged', () => {
    const toy = released({ steps: threeSteps })
    approve(toy)
    setSteps(toy, [{ replicas: '100%' }])
    toy.pause(true)
    settle(toy)
    expect(canaryIn(toy)?.currentStepIndex).toBe(1)
    expect(reason(toy)).toBe('Paused')
    expect(toy.oldPods()).toHaveLength(2)
  })

  it('says in a pause, too, that Kubernetes has taken over, for an approval does not mend that', () => {
    const toy = released({ steps: threeSteps })
    for (const _time of ['first', 'second']) {
      toy.editDaemonSet({
        spec: { ...toy.daemonSet.spec, updateStrategy: { ...toy.daemonSet.spec.updateStrategy, type: 'RollingUpdate' } },
      })
      settle(toy)
    }
    expect(conditions(toy)).toMatchObject({ Stalled: 'True' })
    expect(toy.rollout?.status?.message).toMatch(
      /waits for approval since .*; updateStrategy.type was set back to RollingUpdate .* or retry/,
    )
  })

  it('ends though its plan is replaced after the last step, before its BatchRelease knows of the end (G6)', () => {
    const toy = released({ steps: [{ replicas: '100%' }] }, 0)
    for (let pass = 0; pass < 60 && canaryIn(toy)?.finalisingStep !== 'ResumeWorkload'; pass++) act(toy)
    expect(canaryIn(toy)?.finalisingStep).toBe('ResumeWorkload')
    expect(toy.release?.spec.releasePlan.batchPartition).toBe(0)
    setSteps(toy, [{ replicas: '20%', pause: {} }, { replicas: '100%' }])
    settle(toy)
    expect(toy.rollout?.status?.phase).toBe('Healthy')
    expect(toy.oldPods()).toEqual([])
  })

  it('is stopped, not guessed at, when the spec becomes invalid in the middle', () => {
    const toy = released({ steps: threeSteps })
    setSteps(toy, [])
    settle(toy)
    expect(toy.release?.status?.flight?.state).toBe('stopped')
    expect(conditions(toy)).toMatchObject({ Stalled: 'True' })
    expect(toy.rollout?.status).toMatchObject({ phase: 'Progressing', observedGeneration: 2 })
    setSteps(toy, threeSteps)
    settle(toy)
    expect(toy.release?.status?.flight?.state).toBe('open')
  })

  it('has observed a spec that became invalid only when the record is stopped (G9)', () => {
    const toy = released({ steps: threeSteps })
    setSteps(toy, [])
    for (let pass = 0; toy.release?.status?.flight?.state !== 'stopped' && pass < 20; pass++) {
      expect(toy.rollout?.status?.observedGeneration).toBe(1)
      act(toy)
    }
    settle(toy)
    expect(toy.rollout?.status?.observedGeneration).toBe(2)
  })
})

describe('a pause', () => {
  it('is acknowledged only when the record is stopped (G9)', () => {
    const toy = released({ steps: threeSteps })
    toy.pause(true)
    for (let pass = 0; toy.release?.status?.flight?.state !== 'stopped' && pass < 20; pass++) {
      expect([reason(toy), toy.rollout?.status?.observedGeneration]).toEqual(['InRolling', 1])
      act(toy)
    }
    settle(toy)
    expect(reason(toy)).toBe('Paused')
    expect(toy.rollout?.status).toMatchObject({
      observedGeneration: 2,
      message: expect.stringContaining('paused by spec.strategy.paused since'),
    })
    toy.pause(false)
    const said = new Set<string | undefined>()
    settle(toy, () => reason(toy) === 'InRolling' && said.add(toy.rollout?.status?.message))
    expect([...said][0]).toBe('spec.strategy.paused was taken away: the release goes on')
  })

  it('stops the final batch too, which then goes on where it was', () => {
    const toy = released({ steps: [{ replicas: '40%', pause: {} }] })
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    for (let pass = 0; reason(toy) !== 'Finalising' && pass < 30; pass++) act(toy)
    toy.pause(true)
    settle(toy)
    expect(reason(toy)).toBe('Paused')
    expect(toy.release?.status?.flight?.state).toBe('stopped')
    const old = toy.oldPods().length
    expect(old).toBeGreaterThan(0)
    toy.pause(false)
    settle(toy)
    expect(toy.rollout?.status?.phase).toBe('Healthy')
  })

  it('stops what is done about nodes that were left', () => {
    const toy = leftBehind()
    toy.pause(true)
    settle(toy)
    expect(toy.release?.status?.flight?.state).toBe('stopped')
    expect(toy.rollout?.status?.observedGeneration).toBe(2)
  })
})

describe('nodes that are left behind', () => {
  it('do not keep the release from being Healthy; the condition names them', () => {
    const toy = leftBehind()
    expect(conditions(toy)).toMatchObject({ Ready: 'True', Succeeded: 'True', StrategyRestored: 'False' })
    expect(toy.rollout?.status?.message).toContain('node-4')
    expect(toy.daemonSet.metadata.annotations).not.toHaveProperty([daemonSetAnnotations.inProgressing])
  })

  it('are updated when they are back, and then everything is given back', () => {
    const toy = leftBehind()
    toy.nodes.set('node-4', { ready: true, bad: false })
    settle(toy, () => {
      if (toy.release !== undefined && toy.release.status?.phase !== 'Completed')
        expect(conditions(toy)).toMatchObject({ StrategyRestored: 'False' })
    })
    expect(toy.oldPods()).toEqual([])
    expect(toy.release).toBeUndefined()
    expect(conditions(toy)).toMatchObject({ StrategyRestored: 'True' })
  })
})

describe.each([
  ['another kind', { kind: 'Deployment' }],
  ['another DaemonSet', { name: 'other' }],
])('a workloadRef that names %s in mid-release', (_what, change) => {
  it('lets go of the DaemonSet: it is frozen, unbound, and its BatchRelease is gone', () => {
    const toy = released({ steps: threeSteps })
    toy.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, ...change } }))
    expect(planOf(toy)).toEqual({ kind: 'deleteRelease' })
    settle(toy)
    expect(toy.release).toBeUndefined()
    expect(toy.daemonSet.metadata.labels).toEqual({})
    expect(Object.keys(toy.daemonSet.metadata.annotations ?? {}).toSorted()).toEqual(
      [daemonSetAnnotations.originalUpdateStrategy, daemonSetAnnotations.frozen].toSorted(),
    )
    expect([strategyOf(toy.daemonSet), toy.oldPods().length]).toEqual(['OnDelete', 4])
  })

  it('gives the strategy back where no release runs', () => {
    const toy = healthy()
    toy.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, ...change } }))
    settle(toy)
    expect(strategyOf(toy.daemonSet)).toBe('RollingUpdate')
    expect(toy.daemonSet.metadata.annotations).toEqual({})
  })

  it('keeps no deletion of the Rollout waiting', () => {
    const toy = released({ steps: threeSteps })
    toy.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, ...change } }))
    toy.deleteRollout()
    settle(toy)
    expect([toy.rollout, toy.release]).toEqual([undefined, undefined])
    expect(toy.daemonSet.metadata.annotations).not.toHaveProperty([daemonSetAnnotations.rollout])
  })
})

describe('a Rollout whose workload became another kind', () => {
  it('has nothing of ours in the end, and is left alone from then on', () => {
    const toy = released({ steps: threeSteps })
    toy.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, kind: 'Deployment' } }))
    settle(toy)
    expect(toy.rollout?.metadata.finalizers).toEqual([])
    expect(toy.rollout?.status).toMatchObject({ phase: 'Initial', message: expect.stringContaining('let go'), conditions: [] })
    expect(toy.rollout?.status).not.toHaveProperty('stableRevision')
    const { metadata } = toy.rollout!
    toy.rollout = { ...toy.rollout!, metadata: { ...metadata, finalizers: ['rollouts.kruise.io/rollout'] } }
    expect(planOf(toy).kind).toBe('wait')
  })
})

describe('the end of control', () => {
  it('comes with a disabled Rollout: the release stops and the DaemonSet stays as it stands', () => {
    const toy = released({ steps: threeSteps })
    toy.editRollout((spec) => ({ ...spec, disabled: true }))
    expect(planOf(toy)).toEqual({ kind: 'deleteRelease' })
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({
      phase: 'Disabled',
      message: expect.stringMatching(/^disabled in mid-release: 4 of 5 nodes do not run revision hash-v2 .*to go on in steps/),
    })
    expect([strategyOf(toy.daemonSet), toy.oldPods().length]).toEqual(['OnDelete', 4])
    expect(toy.daemonSet.metadata.annotations).toHaveProperty([daemonSetAnnotations.frozen])
  })

  it.each([
    ['disabled', (toy: ToyCluster) => toy.editRollout((spec) => ({ ...spec, disabled: true }))],
    ['deleted', (toy: ToyCluster) => toy.deleteRollout()],
  ])('says once what is left frozen when the Rollout is %s', (_how, end) => {
    const toy = released({ steps: threeSteps })
    end(toy)
    settle(toy)
    expect(toy.frozen).toEqual([
      '4 of 5 nodes do not run revision hash-v2 of the template: 4 on revision hash-v1; updateStrategy.type stays OnDelete, so nothing updates them; ' +
        'to go on in steps, have an enabled Rollout for DaemonSet agent; to let Kubernetes do it, set updateStrategy.type to RollingUpdate',
    ])
  })

  it.each([
    ['disabled', 'Disabling', (toy: ToyCluster) => toy.editRollout((spec) => ({ ...spec, disabled: true }))],
    ['deleted', 'Terminating', (toy: ToyCluster) => toy.deleteRollout()],
  ])('names what the stop waits for when the Rollout is %s', (_how, phase, end) => {
    const toy = goingOf(end)
    const plan = planOf(toy)
    expect(plan).toMatchObject({ kind: 'writeStatus', status: { phase, message: expect.stringContaining('in flight: node-1 (since ') } })
  })

  it('is not Healthy while its last BatchRelease still goes and nodes run another revision', () => {
    const toy = goingOf((cluster) => cluster.editRollout((spec) => ({ ...spec, disabled: true })))
    toy.editRollout((spec) => ({ ...spec, disabled: false }))
    for (let pass = 0; pass < 5; pass++) toy.passRollout()
    expect(toy.rollout?.status).toMatchObject({
      phase: 'Progressing',
      message: expect.stringContaining('waiting for the last BatchRelease to go: '),
    })
  })

  it('says nothing of the kind where nothing is left', () => {
    const toy = healthy()
    toy.deleteRollout()
    settle(toy)
    expect(toy.frozen).toEqual([])
  })

  it('begins no release for a Rollout that was disabled before its first one', () => {
    const toy = healthy()
    toy.setImage('v2')
    toy.actNatively()
    for (let pass = 0; toy.rollout?.status?.phase !== 'Progressing' && pass < 9; pass++) toy.passRollout()
    toy.editRollout((spec) => ({ ...spec, disabled: true }))
    for (let pass = 0; pass < 9; pass++) {
      expect(planOf(toy).kind).not.toBe('createRelease')
      toy.passRollout()
    }
  })

  it('comes with a deleted Rollout, which goes last', () => {
    const toy = released({ steps: threeSteps })
    toy.deleteRollout()
    settle(toy)
    expect([toy.rollout, toy.release]).toEqual([undefined, undefined])
  })

  it('gives the strategy back where no node runs an old pod', () => {
    const toy = healthy()
    toy.deleteRollout()
    settle(toy)
    expect(strategyOf(toy.daemonSet)).toBe('RollingUpdate')
    expect(toy.daemonSet.metadata.annotations).toEqual({})
    expect(toy.daemonSet.metadata.labels).toEqual({})
  })

  it('freezes old nodes though no release had begun', () => {
    const toy = healthy()
    toy.setImage('v2')
    toy.actNatively()
    toy.deleteRollout()
    settle(toy)
    expect(strategyOf(toy.daemonSet)).toBe('OnDelete')
    expect(JSON.parse(toy.daemonSet.metadata.annotations?.[daemonSetAnnotations.frozen] ?? '{}')).toMatchObject({
      revision: 'hash-v2',
      nodesLeft: 5,
    })
  })
})

it('leaves a BatchRelease alone that was written for a newer Rollout than it knows (G9)', () => {
  const toy = healthy()
  toy.setImage('v2')
  settle(toy)
  const { rollout } = toy.rolloutView()!
  toy.pause(true)
  settle(toy)
  expect(toy.release?.spec.tranche?.paused).toBe(true)
  expect(planRollout({ ...toy.rolloutView()!, rollout }).kind).not.toBe('updateRelease')
})

function healthy(options: ToyOptions = {}): ToyCluster {
  const toy = new ToyCluster(options)
  settle(toy)
  return toy
}

/** A release that has ended, and given the strategy back. */
function ended(): ToyCluster {
  const toy = released({ scope: 'release', steps: [{ replicas: '100%' }] })
  expect(toy.rollout?.status?.phase).toBe('Healthy')
  expect(strategyOf(toy.daemonSet)).toBe('RollingUpdate')
  return toy
}

/** The DaemonSet has the keys and the strategy of a release. */
function withKeys(toy: ToyCluster, metadata: Partial<DaemonSet['metadata']> & { readonly generation: number }): ToyCluster {
  const annotations = { ...toy.daemonSet.metadata.annotations, [daemonSetAnnotations.originalUpdateStrategy]: 'RollingUpdate' }
  const { spec, status } = toy.daemonSet
  toy.daemonSet = {
    metadata: { ...toy.daemonSet.metadata, ...metadata, annotations },
    spec: { ...spec, updateStrategy: { ...spec.updateStrategy, type: 'OnDelete' } },
    status: { ...status!, observedGeneration: metadata.generation },
  }
  return toy
}

/** A release that is being ended, and whose BatchRelease waits for a node in flight. */
function goingOf(end: (toy: ToyCluster) => void): ToyCluster {
  const toy = released({ steps: threeSteps })
  end(toy)
  for (let pass = 0; pass < 3; pass++) toy.passRollout()
  const release = toy.release!
  const waiting = { reason: 'Deleting', message: 'nodes in flight: node-1', since: '2023-11-14T00:00:00Z', nodes: ['node-1'] }
  const metadata = { ...release.metadata, deletionTimestamp: '2023-11-14T00:00:00Z' }
  toy.release = { ...release, metadata, status: { ...release.status, waiting } }
  return toy
}

/** A release of v2, as far as it goes by itself; `withinMs` of the toy's clock. */
function released(options: ToyOptions, withinMs?: number): ToyCluster {
  const toy = healthy(options)
  toy.setImage('v2')
  if (withinMs === undefined) settle(toy)
  else for (const endMs = toy.nowMs + withinMs; toy.nowMs < endMs; toy.nowMs += 200) act(toy)
  return toy
}

/** A release that has ended but for a NotReady node. */
function leftBehind(): ToyCluster {
  const toy = healthy({ steps: [{ replicas: '100%' }] })
  toy.nodes.set('node-4', { ready: false, bad: false })
  toy.setImage('v2')
  settle(toy)
  expect(toy.rollout?.status?.phase).toBe('Healthy')
  return toy
}

function approve(toy: ToyCluster): void {
  toy.setCanaryStatus({ currentStepState: 'StepReady' })
  settle(toy)
}

function setSteps(toy: ToyCluster, steps: NonNullable<ToyOptions['steps']>): void {
  toy.editRollout((spec) => ({ ...spec, strategy: { ...spec.strategy, canary: { steps } } }))
}

function planOf(toy: ToyCluster): RolloutPlan {
  return planRollout(toy.rolloutView()!)
}

function canaryIn({ rollout }: ToyCluster): RolloutStatus['canaryStatus'] {
  return rollout?.status?.canaryStatus
}

function statusOf(plan: RolloutPlan): RolloutStatus {
  if (plan.kind !== 'writeStatus') throw new Error(`the plan is to ${plan.kind}`)
  return plan.status
}

function canaryOf(plan: RolloutPlan): RolloutStatus['canaryStatus'] {
  return plan.kind === 'writeStatus' ? plan.status.canaryStatus : undefined
}

function reason({ rollout }: ToyCluster): string | undefined {
  return rollout?.status?.conditions?.find(({ type }) => type === 'Progressing')?.reason
}

function conditions({ rollout }: ToyCluster): Readonly<Record<string, string>> {
  return Object.fromEntries((rollout?.status?.conditions ?? []).map(({ type, status }) => [type, status]))
}

function stalledBy(plan: RolloutPlan): { readonly reason: string; readonly message: string } | undefined {
  const stalled = plan.kind === 'writeStatus' ? plan.status.conditions?.find(({ type }) => type === 'Stalled') : undefined
  return stalled && { reason: stalled.reason, message: stalled.message }
}
