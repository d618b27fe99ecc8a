import type { Pod } from '@tranche/kube-types'
import { type DemandingSpec, demandOf } from './demand.ts'
import { withHeldResources } from './held-resources.ts'
import type { DemandingPod } from './room.ts'

/** Spec of a pod with what a scheduler reads of it. */
export type ScheduledSpec = DemandingSpec & { readonly schedulingGates?: readonly unknown[]; readonly preemptionPolicy?: string }

/** @returns the spec of the pod or template, with what a scheduler reads of it */
export function specOf({ spec }: { readonly spec?: unknown }): ScheduledSpec {
  return (spec ?? {}) as ScheduledSpec
}

/** Reduces a pod to what it takes of its node. */
export function toDemandingPod(pod: Pod): DemandingPod {
  const { namespace = '', name, uid } = pod.metadata
  const spec = specOf(pod)
  const isTerminating = pod.metadata.deletionTimestamp !== undefined
  return {
    namespace,
    name,
    uid,
    priority: spec.priority ?? 0,
    demand: demandOf(withHeldResources(spec, pod)),
    ...(isTerminating && { isTerminating }),
    ...(spec.preemptionPolicy === 'Never' && { isNonPreempting: true }),
  }
}

/** Whether a pod takes nothing of its node any more. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}
