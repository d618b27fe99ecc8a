import type { Rollout } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'

/** State of the demo. */
export interface DemoView {
  readonly daemonSet: DaemonSet | undefined
  readonly rollout: Rollout | undefined
  /** Image to release. */
  readonly image: string
  /** Number of nodes on which the DaemonSet must be available before the release. */
  readonly nodes: number
  /** Progress of the demo; null before the image was set. */
  readonly begun: DemoBegun | null
}

/** Progress of the demo after it set the image. */
export interface DemoBegun {
  /** Canary revision of the Rollout before the image was set. */
  readonly revisionBefore: string | undefined
  /** `resourceVersion` of the Rollout for which the last approval was sent; an approval is for one version only. */
  readonly approvedVersion: string | null
}

/** Next operation of the demo. */
export type DemoPlan =
  | { readonly kind: 'wait'; readonly for: string }
  | { readonly kind: 'setImage' }
  /** `resourceVersion` of the Rollout that was read: the approval applies only to it. */
  | { readonly kind: 'approve'; readonly step: number; readonly resourceVersion: string }
  | { readonly kind: 'finish' }

/**
 * Decides the next operation of a user who releases a new version: wait until every node is available, then set the
 * image. Then approve each step that waits for a person, until the Rollout is Healthy. Pure.
 */
export function planDemo(view: DemoView): DemoPlan {
  const { daemonSet, rollout, begun } = view
  if (daemonSet === undefined) return { kind: 'wait', for: 'the DaemonSet' }
  if (rollout === undefined) return { kind: 'wait', for: 'the Rollout' }
  return begun === null ? planBeginning(view, daemonSet, rollout) : planRelease(view, daemonSet, rollout, begun)
}

function planBeginning(view: DemoView, daemonSet: DaemonSet, rollout: Rollout): DemoPlan {
  if (!isComplete(daemonSet, view.nodes)) return { kind: 'wait', for: 'the first version to become available on every node' }
  if (rollout.status?.phase !== 'Healthy') return { kind: 'wait', for: 'the controller to reconcile the Rollout' }
  return { kind: 'setImage' }
}

function planRelease(view: DemoView, daemonSet: DaemonSet, rollout: Rollout, begun: DemoBegun): DemoPlan {
  const { status } = rollout
  if (status?.phase === 'Healthy' && isReleased(view, daemonSet, rollout, begun)) return { kind: 'finish' }
  const { resourceVersion } = rollout.metadata
  if (waitsForPerson(rollout) && begun.approvedVersion !== resourceVersion)
    return { kind: 'approve', step: status?.currentStepIndex ?? 0, resourceVersion }
  return { kind: 'wait', for: status?.message ?? 'the controller' }
}

function isReleased(view: DemoView, daemonSet: DaemonSet, rollout: Rollout, begun: DemoBegun): boolean {
  const status = rollout.status?.canaryStatus
  if (daemonSet.spec.template.spec?.containers?.[0]?.image !== view.image || !isComplete(daemonSet, view.nodes)) return false
  if (daemonSet.metadata.annotations?.[daemonSetAnnotations.inProgressing] !== undefined) return false
  return status?.currentStepState === 'Completed' && status.canaryRevision !== begun.revisionBefore
}

/** A pause with a duration ends without approval. */
function waitsForPerson({ spec, status }: Rollout): boolean {
  if (status?.phase !== 'Progressing' || status.currentStepState !== 'StepPaused' || spec.strategy.paused === true) return false
  return spec.strategy.canary?.steps?.[status.currentStepIndex - 1]?.pause?.duration === undefined
}

/** Whether every node runs the template, by the DaemonSet status of the current generation. */
function isComplete({ metadata, status }: DaemonSet, nodes: number): boolean {
  return (
    status !== undefined &&
    status.observedGeneration === metadata.generation &&
    (status.desiredNumberScheduled ?? 0) === nodes &&
    (status.updatedNumberScheduled ?? 0) === nodes &&
    (status.numberAvailable ?? 0) === nodes
  )
}
