import type { Condition, Pod } from '@tranche/kube-types'
import { isTerminal, resources, type SimClient } from '@tranche/sim-api'
import { disruptionTarget, withCondition } from '../disruption/disrupt-pod.ts'
import { ignoreMissing } from '../machinery/ignore-missing.ts'

/**
 * Removes a pod at once. A pod that is not terminal is marked Failed first, so that its controller learns how it ended.
 *
 * @param condition additional reason of its end
 */
export async function removePod(client: SimClient, pod: Pod, condition?: Condition): Promise<void> {
  const { name, namespace, uid } = pod.metadata
  if (!isTerminal(pod)) {
    const status = { phase: 'Failed', ...(condition !== undefined && { conditions: withCondition(pod, condition) }) }
    await ignoreMissing(client.patch(resources.pods, name, namespace, { metadata: { uid }, status }, 'status'))
  }
  await ignoreMissing(client.delete(resources.pods, name, namespace, { gracePeriodSeconds: 0, preconditions: { uid } }))
}

/** @returns condition of a pod whose node was deleted */
export function nodeGone(nowMs: number): Condition {
  return disruptionTarget({ reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' }, nowMs)
}
