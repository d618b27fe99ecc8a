import type { ApiKey } from '@tranche/api-client'
import type { RolloutSummary } from '@tranche/api-schema'
import { textOfKey } from '../../live/release-store.ts'

/**
 * Chooses the Rollouts whose history answers a filter.
 *
 * @param rollout `NAMESPACE/NAME`, or text in it
 * @returns those that match, the latest known change first; a Rollout that is named in full, even if the fleet does not have it
 */
export function readingOrder(rollouts: ReadonlyMap<string, RolloutSummary>, rollout: string): readonly ApiKey[] {
  const text = rollout.trim().toLowerCase()
  const exact = rollouts.get(text)
  if (exact !== undefined) return [keyOf(exact)]
  const found = [...rollouts.values()].filter((one) => textOfKey(one).toLowerCase().includes(text))
  if (found.length > 0) return found.sort((a, b) => latestOf(b) - latestOf(a) || (textOfKey(a) < textOfKey(b) ? -1 : 1)).map(keyOf)
  const [namespace = '', name = '', ...rest] = text.split('/')
  return namespace === '' || name === '' || rest.length > 0 ? [] : [{ namespace, name }]
}

function keyOf({ namespace, name }: ApiKey): ApiKey {
  return { namespace, name }
}

/** Latest change that a summary has, in epoch milliseconds. */
function latestOf({ createdAt, releaseStartedAt, step, need, waitingFor }: RolloutSummary): number {
  const moments = [createdAt, releaseStartedAt, step?.since, need?.since, waitingFor?.since]
  return Math.max(...moments.map((at) => (at === undefined ? 0 : Date.parse(at) || 0)))
}
