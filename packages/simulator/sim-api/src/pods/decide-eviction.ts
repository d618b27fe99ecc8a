import type { ApiObject } from '../model/client.ts'
import { ApiStatusError } from '../model/status-error.ts'
import { type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { isTerminal } from '../model/is-terminal.ts'
import { forbidden } from '../model/errors.ts'

/** Outcome of an allowed eviction. */
export type EvictionDecision =
  /** No budget selects the pod. */
  | { readonly kind: 'free' }
  /** A budget allows the eviction because of the pod's current state; nothing is counted. */
  | { readonly kind: 'asItIs' }
  /** The budget allows one disruption less afterwards. */
  | { readonly kind: 'countDown'; readonly budget: ApiObject }

const MORE_THAN_ONE = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
const MOST_DISRUPTED_PODS = 2000
const STILL_PROCESSED_RETRY_SECONDS = 10

/**
 * Decides on the eviction of an existing pod.
 *
 * @param budgets all PodDisruptionBudgets that select it
 * @throws {ApiStatusError} 429 when the budget allows no disruption, or its status is older than its spec; 403 when its status is invalid;
 *   500 when there is more than one budget
 */
export function decideEviction(pod: ApiObject, budgets: readonly ApiObject[]): EvictionDecision {
  const phase = objectOrEmpty(pod['status'])['phase']
  const isGoing = pod.metadata.deletionTimestamp !== undefined
  if (isTerminal(pod) || isGoing) return { kind: 'free' }
  if (phase === 'Pending') return { kind: 'asItIs' }
  if (budgets.length > 1) throw new ApiStatusError(500, '', MORE_THAN_ONE)
  const [budget] = budgets
  if (budget === undefined) return { kind: 'free' }
  if (!isReady(pod) && allowsUnhealthyEviction(budget)) return { kind: 'asItIs' }
  refuseDisruption(budget)
  return { kind: 'countDown', budget }
}

function allowsUnhealthyEviction(budget: ApiObject): boolean {
  if (objectOrEmpty(budget['spec'])['unhealthyPodEvictionPolicy'] === 'AlwaysAllow') return true
  const { currentHealthy, desiredHealthy } = objectOrEmpty(budget['status'])
  return Number(desiredHealthy) > 0 && Number(currentHealthy) >= Number(desiredHealthy)
}

function refuseDisruption(budget: ApiObject): void {
  const { name, generation = 0 } = budget.metadata
  const status = objectOrEmpty(budget['status'])
  if (Number(status['observedGeneration'] ?? 0) < generation)
    throw tooManyRequests(`The disruption budget ${name} is still being processed by the server.`, STILL_PROCESSED_RETRY_SECONDS)
  if (Number(status['disruptionsAllowed']) < 0) throw forbidden(BUDGET, name, 'pdb disruptions allowed is negative')
  if (Object.keys(objectOrEmpty(status['disruptedPods'])).length > MOST_DISRUPTED_PODS)
    throw forbidden(BUDGET, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  if (status['disruptionsAllowed'] === 0) throw tooManyRequests(whyNone(name, status), 0)
}

/** As the API server names it, in the singular. */
const BUDGET = { group: 'policy', resource: 'poddisruptionbudget' }

function whyNone(name: string, status: JsonObject): string {
  const { currentHealthy, desiredHealthy, conditions } = status
  const condition = listOrEmpty(conditions)
    .map(objectOrEmpty)
    .find(({ type }) => type === 'DisruptionAllowed')
  const says = condition?.['status'] === 'False' ? String(condition['message'] ?? '') : ''
  if (says !== '' && condition?.['reason'] === 'SyncFailed')
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${says}`
  if (Number(currentHealthy) <= Number(desiredHealthy))
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  const reason = says === '' ? '' : ` (${String(condition?.['reason'])}): ${says}`
  return `The disruption budget ${name} does not allow evicting pods currently${reason}`
}

function tooManyRequests(cause: string, retryAfterSeconds: number): ApiStatusError {
  const message = "Cannot evict pod as it would violate the pod's disruption budget."
  return new ApiStatusError(429, 'TooManyRequests', message, {
    causes: [{ reason: 'DisruptionBudget', message: cause }],
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
  })
}

function isReady(pod: ApiObject): boolean {
  return listOrEmpty(objectOrEmpty(pod['status'])['conditions'])
    .map(objectOrEmpty)
    .some(({ type, status }) => type === 'Ready' && status === 'True')
}
