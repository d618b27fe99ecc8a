import type { CanaryStatus } from '@tranche/api-schema'
import { type DaemonSet, ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import type { FoundRevisions } from '../release/discover-revisions.ts'
import type { Course } from './course.ts'
import { stepsOf } from './release-spec.ts'
import type { RolloutView } from './rollout-view.ts'

/** A release begins, or begins again because the template changed under it. */
export function startCourse(view: RolloutView, before: Course, discovery: FoundRevisions): Course {
  const steps = stepsOf(view.rollout).length
  // Nothing new to release (the template came back): no step is worth a pause.
  const first = discovery.canary === discovery.stable ? steps : 1
  const canary: CanaryStatus = {
    ...completedCanary(view, discovery.canary),
    stableRevision: discovery.stable,
    currentStepIndex: first,
    nextStepIndex: first < steps ? first + 1 : -1,
    currentStepState: 'BeforeStepUpgrade',
    canaryReplicas: 0,
    canaryReadyReplicas: 0,
  }
  return {
    ...before,
    phase: 'Progressing',
    reason: 'Initializing',
    canary,
    stableRevision: discovery.stable,
    releaseGeneration: view.daemonSet?.metadata.generation ?? 0,
    succeeded: null,
    message: `releasing revision ${discovery.canary}`,
  }
}

/** The status of a release that is over: also the first status ever, which readers dereference. */
export function completedCanary({ rollout, daemonSet, nowMs }: RolloutView, revision: string): CanaryStatus {
  const steps = Math.max(1, stepsOf(rollout).length)
  return {
    ...ofWorkload(daemonSet, revision),
    stableRevision: revision,
    podTemplateHash: revision,
    canaryRevision: revision,
    currentStepIndex: steps,
    nextStepIndex: -1,
    finalisingStep: '',
    currentStepState: 'Completed',
    canaryReplicas: 0,
    canaryReadyReplicas: 0,
    lastUpdateTime: new Date(nowMs).toISOString(),
  }
}

/** The same status, of the DaemonSet as it is now: readers compare generation and id with what they see themselves. */
export function refreshed({ daemonSet }: RolloutView, canary: CanaryStatus): CanaryStatus {
  return { ...canary, ...ofWorkload(daemonSet, canary.canaryRevision) }
}

function ofWorkload(
  daemonSet: DaemonSet | undefined,
  revision: string,
): Required<Pick<CanaryStatus, 'observedWorkloadGeneration' | 'observedRolloutID'>> {
  const { generation = 0, labels } = daemonSet?.metadata ?? {}
  return { observedWorkloadGeneration: generation, observedRolloutID: labels?.[ROLLOUT_ID_LABEL] ?? revision }
}
