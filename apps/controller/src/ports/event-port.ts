import { isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { EventPort } from '@tranche/reconcile'

/** Writes events as core/v1 objects. `repeat` returns false if the event no longer exists. */
export function createEventPort(client: KubeClient): EventPort {
  return {
    create: async (event) => void (await client.create(resourcePaths.events, event)),
    async repeat({ metadata, count, message, lastTimestamp }) {
      try {
        await client.patch(resourcePaths.events, metadata, { type: 'merge', body: { count, message, lastTimestamp } })
        return true
      } catch (error) {
        if (isNotFound(error)) return false
        throw error
      }
    },
  }
}
