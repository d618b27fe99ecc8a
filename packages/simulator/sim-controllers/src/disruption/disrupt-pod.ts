import type { Clock } from '@tranche/clock'
import type { Condition, Pod } from '@tranche/kube-types'
import { resources, type SimClient, timestamp } from '@tranche/sim-api'
import { ignoreMissing } from '../machinery/ignore-missing.ts'

/** Reason of a disruption, as in the condition DisruptionTarget. */
export type Disruption = Required<Pick<Condition, 'reason' | 'message'>>

/** Dependencies of a disruption. */
export interface DisruptionPorts {
  readonly client: SimClient
  readonly clock: Clock
}

/** Records the reason in the pod's status, then deletes it. A pod that is gone, or was replaced by another of its name, is left alone. */
export async function disruptPod({ client, clock }: DisruptionPorts, pod: Pod, disruption: Disruption): Promise<void> {
  const { name, namespace, uid } = pod.metadata
  const conditions = withCondition(pod, disruptionTarget(disruption, clock.nowMs()))
  await ignoreMissing(client.patch(resources.pods, name, namespace, { metadata: { uid }, status: { conditions } }, 'status'))
  await ignoreMissing(client.delete(resources.pods, name, namespace, { preconditions: { uid } }))
}

/** @returns DisruptionTarget condition */
export function disruptionTarget({ reason, message }: Disruption, nowMs: number): Condition {
  return { type: 'DisruptionTarget', status: 'True', reason, message, lastTransitionTime: timestamp(nowMs) }
}

/** @returns the pod's conditions, with this one in place of another of its type */
export function withCondition({ status }: Pod, condition: Condition): readonly Condition[] {
  return [...(status?.conditions ?? []).filter(({ type }) => type !== condition.type), condition]
}
