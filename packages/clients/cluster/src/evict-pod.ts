import type { Consumer, EvictionRefusal } from '@tranche/drain'
import {
  isConflict,
  isForbidden,
  isNotFound,
  isUnauthorized,
  type KubeClient,
  KubeStatusError,
  type ResourcePath,
  resourcePaths,
} from '@tranche/kube-client'
import { clipText } from '@tranche/kube-types'

/** Deadline of an eviction in milliseconds, below the ten seconds that an API server may ask a client to wait for a budget. */
const EVICTION_DEADLINE_MS = 5_000

/** Maximum length of a refusal. */
const WORDS_MAX = 256

/** Answers whether this process may evict pods of a namespace. */
export type EvictionRights = (namespace: string, signal: AbortSignal) => Promise<boolean>

/**
 * Asks the API server to evict a pod. It refuses where a PodDisruptionBudget does not allow it, or a webhook or policy denies it.
 *
 * @returns the refusal, or why there was no clear response; null if the pod is being deleted, or is gone
 * @throws {KubeStatusError | AppError} if the executor lacks the right, or the signal aborts the request
 */
export async function evictPod(
  client: KubeClient,
  pod: Consumer,
  { mayEvict, signal }: { readonly mayEvict: EvictionRights; readonly signal: AbortSignal },
): Promise<EvictionRefusal | null> {
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
    const lacksRight = isUnauthorized(error) || (isForbidden(error) && !(await mayEvict(namespace, signal)))
    if (signal.aborted || lacksRight) throw error
    return { uid, message: clipText(messageOf(error), WORDS_MAX) }
  }
}

const accessReviews: ResourcePath = { group: 'authorization.k8s.io', version: 'v1', plural: 'selfsubjectaccessreviews', namespaced: false }

/**
 * Asks for the rights of this process, once a namespace. A refusal of admission and a missing right both answer 403, and only the API server
 * knows which it was. An answer that does not come counts as a missing right.
 */
export function createEvictionRights(client: KubeClient): EvictionRights {
  const answers = new Map<string, Promise<boolean>>()

  async function ask(namespace: string, signal: AbortSignal): Promise<boolean> {
    const spec = { resourceAttributes: { namespace, verb: 'create', resource: 'pods', subresource: 'eviction' } }
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', metadata: {}, spec }
    try {
      const { status } = (await client.create(accessReviews, review, { signal, deadlineMs: EVICTION_DEADLINE_MS })) as ReviewAnswer
      return status?.allowed === true
    } catch {
      return false
    }
  }

  return (namespace, signal) => {
    const answer = answers.get(namespace) ?? ask(namespace, signal)
    answers.set(namespace, answer)
    return answer
  }
}

interface ReviewAnswer {
  readonly status?: { readonly allowed?: boolean }
}

/** The cause names the budget. */
function messageOf(error: unknown): string {
  if (!(error instanceof KubeStatusError)) return error instanceof Error ? error.message : String(error)
  const { causes, serverMessage, message } = error
  return causes.find(({ reason }) => reason === 'DisruptionBudget')?.message ?? (serverMessage || message)
}
