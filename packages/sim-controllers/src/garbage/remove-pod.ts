import type { Condition, Pod } from '@tranche/kube-types'
import { isTerminal, resources, type SimClient, timestamp } from '@tranche/sim-api'
import { ignoreMissing } from '../machinery/ignore-missing.ts'

/**
 * Removes a pod at once. A pod that is not terminal is marked Failed first, so that whoever made it learns how it ended.
 *
 * @param condition what else to say about its end
 */
export async function removePod(client: SimClient, pod: Pod, condition?: Condition): Promise<void> {
  const { name, namespace, uid } = pod.metadata
  if (!isTerminal(pod)) {
    const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== condition?.type)
    const status = { phase: 'Failed', ...(condition !== undefined && { conditions: [...others, condition] }) }
    await ignoreMissing(client.patch(resources.pods, name, namespace, { metadata: { uid }, status }, 'status'))
  }
  await ignoreMissing(client.delete(resources.pods, name, namespace, { gracePeriodSeconds: 0, preconditions: { uid } }))
}

/** @returns what a pod says whose node no longer exists */
export function nodeGone(nowMs: number): Condition {
  return {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
    lastTransitionTime: timestamp(nowMs),
  }
}
