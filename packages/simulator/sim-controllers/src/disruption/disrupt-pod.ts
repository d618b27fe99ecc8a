import type { Clock } from '@tranche/clock'
import type { Condition, Pod } from '@tranche/kube-types'
import { resources, type SimClient, timestamp } from '@tranche/sim-api'
import { ignoreMissing } from '../machinery/ignore-missing.ts'

/** Why a pod goes before its time, in the words of its condition DisruptionTarget. */
export type Disruption = Required<Pick<Condition, 'reason' | 'message'>>

/** What disrupting a pod needs. */
export interface DisruptionPorts {
  readonly client: SimClient
  readonly clock: Clock
}

/** Says in the pod's status why it goes, then deletes it. A pod that is gone, or has made room for another of its name, is left alone. */
export async function disruptPod({ client, clock }: DisruptionPorts, pod: Pod, disruption: Disruption): Promise<void> {
  const { name, namespace, uid } = pod.metadata
  const conditions = withCondition(pod, disruptionTarget(disruption, clock.nowMs()))
  await ignoreMissing(client.patch(resources.pods, name, namespace, { metadata: { uid }, status: { conditions } }, 'status'))
  await ignoreMissing(client.delete(resources.pods, name, namespace, { preconditions: { uid } }))
}

/** @returns the condition that says so */
export function disruptionTarget({ reason, message }: Disruption, nowMs: number): Condition {
  return { type: 'DisruptionTarget', status: 'True', reason, message, lastTransitionTime: timestamp(nowMs) }
}

/** @returns the pod's conditions with this one in place of another of its type */
export function withCondition({ status }: Pod, condition: Condition): readonly Condition[] {
  return [...(status?.conditions ?? []).filter(({ type }) => type !== condition.type), condition]
}
