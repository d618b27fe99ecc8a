import type { Rollout } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { type DemoPlan, type DemoView, planDemo } from '../src/dev/plan-demo.ts'

describe('planDemo', () => {
  const cases: Record<string, { view: Partial<DemoView>; want: Partial<DemoPlan> }> = {
    'waits for the DaemonSet to be listed': { view: { daemonSet: undefined }, want: { kind: 'wait', for: 'the DaemonSet' } },
    'waits for the Rollout to be listed': { view: { rollout: undefined }, want: { kind: 'wait', for: 'the Rollout' } },
    'waits until the first version runs on every node': { view: { daemonSet: daemonSet({ updated: 2 }) }, want: { kind: 'wait' } },
    'ignores a status of an older generation': {
      view: { daemonSet: daemonSet({ observed: 1 }) },
      want: { kind: 'wait' },
    },
    'waits until the controller has reconciled the Rollout': { view: { rollout: rollout({ phase: 'Initial' }) }, want: { kind: 'wait' } },
    'sets the image when everything is ready': { view: {}, want: { kind: 'setImage' } },
    'does not mistake the old Healthy for the end of the release': {
      view: { begun, daemonSet: daemonSet({ image: 'v1' }) },
      want: { kind: 'wait' },
    },
    'does not mistake a Healthy of the previous revision for the end': {
      view: { begun, daemonSet: daemonSet({ image: 'v2' }), rollout: rollout({ revision: 'r1' }) },
      want: { kind: 'wait' },
    },
    'approves a step that waits for a person, in the version that it read': {
      view: { begun, rollout: rollout({ phase: 'Progressing', state: 'StepPaused', step: 1 }) },
      want: { kind: 'approve', step: 1, resourceVersion: '7' },
    },
    'approves one version once': {
      view: { begun: { ...begun, approvedVersion: '7' }, rollout: rollout({ phase: 'Progressing', state: 'StepPaused', step: 1 }) },
      want: { kind: 'wait' },
    },
    'does not approve a pause with a duration': {
      view: { begun, rollout: rollout({ phase: 'Progressing', state: 'StepPaused', step: 2 }) },
      want: { kind: 'wait' },
    },
    'approves nothing while the step is in progress': {
      view: { begun, rollout: rollout({ phase: 'Progressing', state: 'StepUpgrade', step: 1 }) },
      want: { kind: 'wait' },
    },
    'approves nothing while the whole Rollout is paused': {
      view: { begun, rollout: rollout({ phase: 'Progressing', state: 'StepPaused', step: 1, paused: true }) },
      want: { kind: 'wait' },
    },
    'waits for the last node': {
      view: { begun, daemonSet: daemonSet({ image: 'v2', updated: 2 }), rollout: rollout({ revision: 'r2' }) },
      want: { kind: 'wait' },
    },
    'waits until the DaemonSet has no key of the release': {
      view: {
        begun,
        daemonSet: daemonSet({ image: 'v2', annotations: { 'rollouts.kruise.io/in-progressing': '{}' } }),
        rollout: rollout({ revision: 'r2' }),
      },
      want: { kind: 'wait' },
    },
    'finishes when the new revision is Healthy on every node': {
      view: { begun, daemonSet: daemonSet({ image: 'v2' }), rollout: rollout({ revision: 'r2' }) },
      want: { kind: 'finish' },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { view, want }) => {
    expect(planDemo({ ...base, ...view })).toMatchObject(want)
  })
})

const begun = { revisionBefore: 'r1', approvedVersion: null }

const base: DemoView = { daemonSet: daemonSet({}), rollout: rollout({}), image: 'agent:v2', nodes: 3, begun: null }

function daemonSet(options: { image?: string; updated?: number; observed?: number; annotations?: Record<string, string> }): DaemonSet {
  const { image = 'v1', updated = 3, observed = 2, annotations = {} } = options
  return {
    metadata: { name: 'agent', uid: 'u', resourceVersion: '1', generation: 2, annotations },
    spec: { template: { spec: { containers: [{ name: 'agent', image: `agent:${image}` }] } } },
    status: { observedGeneration: observed, desiredNumberScheduled: 3, updatedNumberScheduled: updated, numberAvailable: 3 },
  }
}

function rollout(options: {
  phase?: 'Initial' | 'Healthy' | 'Progressing'
  state?: 'StepUpgrade' | 'StepPaused'
  step?: number
  revision?: string
  paused?: boolean
}): Rollout {
  const { phase = 'Healthy', state = 'Completed', step = 3, revision = 'r1', paused = false } = options
  return {
    metadata: { name: 'agent', uid: 'u', resourceVersion: '7' },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      strategy: {
        paused,
        canary: { steps: [{ replicas: '10%', pause: {} }, { replicas: '50%', pause: { duration: 5 } }, { replicas: '100%' }] },
      },
    },
    status: {
      phase,
      currentStepIndex: step,
      currentStepState: state,
      canaryStatus: {
        podTemplateHash: revision,
        currentStepIndex: step,
        nextStepIndex: -1,
        finalisingStep: '',
        currentStepState: state,
        canaryRevision: revision,
        canaryReplicas: 0,
        canaryReadyReplicas: 0,
      },
    },
  }
}
