import type { ApiKey } from '@tranche/api-client'
import type { RolloutSummary } from '@tranche/api-schema'
import { textOfKey } from '../../live/release-store.ts'
import type { ReadHistory } from './history-reader.ts'

/** How much of a record was read. */
export interface Coverage {
  readonly read: readonly ApiKey[]
  readonly failed: readonly ReadHistory[]
  readonly notRead: readonly ApiKey[]
  /** Rollouts that have changed since they were read. */
  readonly outdated: readonly ApiKey[]
}

/** @returns which of the matching Rollouts the record has */
export function coverageOf(
  matching: readonly ApiKey[],
  histories: ReadonlyMap<string, ReadHistory>,
  rollouts: ReadonlyMap<string, Pick<RolloutSummary, 'resourceVersion'>>,
): Coverage {
  const known = matching.flatMap((key) => histories.get(textOfKey(key)) ?? [])
  const read = known.filter(({ error }) => error === undefined)
  const isOutdated = ({ key, resourceVersion }: ReadHistory): boolean => {
    const now = rollouts.get(textOfKey(key))?.resourceVersion
    return now !== undefined && now !== resourceVersion
  }
  return {
    read: read.map(({ key }) => key),
    failed: known.filter(({ error }) => error !== undefined),
    notRead: matching.filter((key) => !histories.has(textOfKey(key))),
    outdated: read.filter(isOutdated).map(({ key }) => key),
  }
}
