import type { QueryClient } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import type { RolloutSummary } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { type ReleaseStore, textOfKey } from '../live/release-store.ts'
import { createRenewer, type Renewer } from './renewer.ts'
import { turningPointOf } from './turning-point.ts'

/** Shortest time between two reads of the same Rollout, in milliseconds. */
const AGAIN_MS = 1_000
/** The same for its other data, such as its history, while nothing but counts of nodes changes. */
const OTHERS_AGAIN_MS = 5_000

/** Beginning of the keys of all data of one Rollout, which is read again when the Rollout changes. */
export function queryKeyOf({ namespace, name }: ApiKey): readonly string[] {
  return ['rollout', namespace, name]
}

/** Key of the report of a Rollout. */
export function reportKeyOf(key: ApiKey): readonly string[] {
  return [...queryKeyOf(key), 'report']
}

/** Dependencies of {@link renewWhenChanged}. */
export interface RenewalParts {
  readonly queries: QueryClient
  readonly releases: ReleaseStore
  readonly clock: Clock
}

/**
 * Reads the report of a Rollout again after each change, at most once a second, and its other data at turning points of its release, else
 * every five seconds. A read on its way is never given up for another one: an API that needs longer than the time between two changes would
 * never get to answer.
 *
 * @returns function that ends it
 */
export function renewWhenChanged({ queries, releases, clock }: RenewalParts, key: ApiKey): () => void {
  const renewer = (apartMs: number, queryKey: readonly string[]): Renewer =>
    createRenewer({ clock, apartMs, renew: () => readAgain(queries, queryKey) })
  const report = renewer(AGAIN_MS, reportKeyOf(key))
  const others = renewer(OTHERS_AGAIN_MS, queryKeyOf(key))
  const all = renewer(AGAIN_MS, queryKeyOf(key))
  const read = (): RolloutSummary | undefined => releases.snapshot().rollouts.get(textOfKey(key))
  let known = read()
  const unsubscribe = releases.subscribe(() => {
    const summary = read()
    if (summary === known) return
    // The first summary is no turning point: the page has just read everything.
    const isTurn = known !== undefined && turningPointOf(summary) !== turningPointOf(known)
    known = summary
    report.changed()
    others.changed()
    if (isTurn) all.changed()
  })
  return () => {
    unsubscribe()
    for (const one of [report, others, all]) one.stop()
  }
}

/** Reads after all reads on their way have ended: those began before the change, and may lack it. */
async function readAgain(queries: QueryClient, queryKey: readonly string[]): Promise<void> {
  const before = queries.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })
  await Promise.allSettled(before.map(async ({ promise }) => promise))
  await queries.invalidateQueries({ queryKey }, { cancelRefetch: false })
}
