import type { Consumer, EvictionRefusal } from '@tranche/drain'
import { isConflict, isNotFound, type KubeClient, KubeStatusError, resourcePaths } from '@tranche/kube-client'

/** Deadline of an eviction in milliseconds, below the ten seconds that an API server may ask a client to wait for a budget. */
const EVICTION_DEADLINE_MS = 5_000

/** Maximum length of a refusal. */
const WORDS_MAX = 256

/**
 * Asks the API server to evict a pod, which it refuses where a PodDisruptionBudget does not allow it.
 *
 * @returns the refusal, or why there was no clear response; null if the pod is being deleted, or is gone
 * @throws {KubeStatusError | AppError} if the executor lacks the right, or the signal aborts the request
 */
export async function evictPod(client: KubeClient, pod: Consumer, signal: AbortSignal): Promise<EvictionRefusal | null> {
  const { namespace, name, uid } = pod
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions: { preconditions: { uid } },
  }
  try {
    await client.create(resourcePaths.pods, eviction, { subresource: 'eviction', signal, deadlineMs: EVICTION_DEADLINE_MS })
    return null
  } catch (error) {
    // Another pod has taken the name.
    if (isNotFound(error) || isConflict(error)) return null
    if (signal.aborted || (error instanceof KubeStatusError && !isRefusal(error))) throw error
    return { uid, message: messageOf(error).slice(0, WORDS_MAX) }
  }
}

/** 429: a budget, or the API server is busy. 500: the pod has more than one budget. */
function isRefusal({ status }: KubeStatusError): boolean {
  return status === 429 || status >= 500
}

/** The cause names the budget. */
function messageOf(error: unknown): string {
  if (!(error instanceof KubeStatusError)) return error instanceof Error ? error.message : String(error)
  const { causes, serverMessage, message } = error
  return causes.find(({ reason }) => reason === 'DisruptionBudget')?.message ?? (serverMessage || message)
}
