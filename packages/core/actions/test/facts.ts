import type { Rollout } from '@tranche/api-schema'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import { applyPatch } from '@tranche/testing'
import type { Action, ActionFacts, ActionWrite } from '@tranche/actions'

/** States of a release at the time of an action. */
export const states = [
  'healthy',
  'unseen',
  'updating',
  'stepPaused',
  'paused',
  'failed',
  'inconclusive',
  'held',
  'goingBack',
  'finishing',
] as const
/** @see states */
export type State = (typeof states)[number]

type Status = NonNullable<Rollout['status']>

/** A Rollout at step 2 of 3 of the release of `v2` over `v1`, or without one. */
export function aRollout(state: State, annotations?: Readonly<Record<string, string>>): Rollout {
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: {
      name: 'agent',
      namespace: 'demo',
      uid: 'rollout-uid',
      resourceVersion: '7',
      generation: 4,
      ...(annotations && { annotations }),
    },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      strategy: {
        ...(state === 'paused' && { paused: true }),
        canary: { steps: [{ replicas: '10%', pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }] },
      },
    },
    ...(state !== 'unseen' && { status: statusOf(state) }),
  } as Rollout
}

function statusOf(state: State): Status {
  const isReleasing = state !== 'healthy'
  const stepState =
    state === 'finishing' || !isReleasing ? 'Completed' : state === 'updating' || state === 'goingBack' ? 'StepUpgrade' : 'StepPaused'
  const stalled = { failed: 'ReleaseFailed', inconclusive: 'AnalysisInconclusive', held: 'RevisionHeld' }[state as string]
  return {
    observedGeneration: 4,
    phase: isReleasing ? 'Progressing' : 'Healthy',
    message: `it is ${state}`,
    currentStepIndex: 2,
    currentStepState: stepState,
    conditions: [
      { type: 'Progressing', status: isReleasing ? 'True' : 'False', reason: state === 'paused' ? 'Paused' : 'InRolling', message: '' },
      ...(stalled === undefined ? [] : [{ type: 'Stalled', status: 'True', reason: stalled, message: '' }]),
    ],
    canaryStatus: {
      observedWorkloadGeneration: 3,
      stableRevision: state === 'goingBack' ? 'v2' : 'v1',
      canaryRevision: 'v2',
      podTemplateHash: 'v2',
      currentStepIndex: 2,
      nextStepIndex: 3,
      finalisingStep: state === 'finishing' ? 'ResumeWorkload' : '',
      currentStepState: stepState,
      canaryReplicas: 5,
      canaryReadyReplicas: 5,
    },
    ...(state === 'held' && { heldRevisions: [{ revision: 'v2', digest: 'd', reason: 'Aborted', at: '2026-01-01T00:00:00Z' }] }),
  } as Status
}

const template = (image: string): object => ({ metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'agent', image }] } })

/** A DaemonSet with the template of revision 3, of which revisions 1 to 3 are known. */
export function aDaemonSet(image = 'agent:3'): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: 'agent',
      namespace: 'demo',
      uid: 'ds-uid',
      resourceVersion: '9',
      generation: 3,
      annotations: { 'deprecated.daemonset.template.generation': '3', 'tranche.dev/rollout': 'agent' },
    },
    spec: { selector: { matchLabels: { app: 'agent' } }, template: template(image), updateStrategy: { type: 'OnDelete' } },
    status: { observedGeneration: 3 },
  }
}

/** The ControllerRevision of a number, as the DaemonSet controller stores it. */
export function aRevision(number: number): ControllerRevision {
  return {
    metadata: {
      name: `agent-h${number}`,
      uid: `revision-${number}`,
      resourceVersion: '1',
      labels: { 'controller-revision-hash': `h${number}` },
    },
    revision: number,
    data: { spec: { template: { ...template(`agent:${number}`), $patch: 'replace' } } },
  }
}

/** Facts in a state. */
export function factsIn(state: State): ActionFacts {
  return {
    rollout: aRollout(state),
    daemonSet: aDaemonSet(),
    revisions: [aRevision(2), aRevision(1), aRevision(3)],
    nowMs: 1_767_225_600_000,
  }
}

/** An action of alice, with the body that its type needs at step 2. */
export function anAction(type: Action['type'], fields: Partial<Action> = {}): Action {
  const body = type === 'approve' ? { expectedStep: 2 } : type === 'jump' ? { expectedStep: 2, step: 1 } : {}
  return { id: 'rest-1', type, body, by: 'alice', via: 'rest', ...fields }
}

/** Facts after a write, as an API server stores it; null if the write does not apply any more. */
export function after(facts: ActionFacts, { target, patch }: ActionWrite): ActionFacts | null {
  if (target === 'Rollout') {
    const rollout = stored(facts.rollout!, patch)
    return rollout && { ...facts, rollout }
  }
  const daemonSet = stored(facts.daemonSet!, patch)
  return daemonSet && { ...facts, daemonSet }
}

function stored<T extends Rollout | DaemonSet>(object: T, patch: ActionWrite['patch']): T | null {
  const patched = applyPatch(object, patch)
  if (patched === null) return null
  const generation = (object.metadata.generation ?? 0) + (JSON.stringify(patched.spec) === JSON.stringify(object.spec) ? 0 : 1)
  return { ...patched, metadata: { ...patched.metadata, generation, resourceVersion: `${Number(object.metadata.resourceVersion) + 1}` } }
}
