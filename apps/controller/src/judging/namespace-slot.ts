import { createQuota, createSemaphore } from '@tranche/connections'
import { abortable } from '@tranche/kube-client'

/**
 * Runs `work` when a slot is free for the namespace.
 *
 * @returns null if too much work of the namespace already waits
 * @throws the signal's reason; errors of `work`
 */
export type RunInNamespaceSlot = <T>(namespace: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T | null>

/** Maximum amount of waiting and running work per namespace; each item holds an answer of up to 1 MiB. */
const MOST_WAITING = 8

/** Runs one piece of work at a time, round-robin by namespace: a namespace waits for at most one piece of work of each other namespace. */
export function createNamespaceSlot(): RunInNamespaceSlot {
  const quota = createQuota(MOST_WAITING)
  const semaphore = createSemaphore(1)

  return async (namespace, signal, work) => {
    const leave = quota.take(namespace)
    if (leave === null) return null
    return abortable(semaphore.run(signal, namespace, work).finally(leave), signal)
  }
}
