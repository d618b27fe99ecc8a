import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import type { RolloutReport, RolloutSummary } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { useEffect } from 'react'
import { textOfKey } from '../live/release-store.ts'
import { usePorts } from './dashboard-ports.ts'
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

/** Reads a Rollout in full, and again after each change that the stream reports, at most once a second. */
export function useReport(key: ApiKey): UseQueryResult<RolloutReport> {
  const { api } = usePorts()
  useRenewal(key)
  return useQuery({ queryKey: reportKeyOf(key), queryFn: ({ signal }) => api.rollout(key, { signal }) })
}

function reportKeyOf(key: ApiKey): readonly string[] {
  return [...queryKeyOf(key), 'report']
}

/** Renders nothing: a large fleet changes ten times a second. */
function useRenewal({ namespace, name }: ApiKey): void {
  const client = useQueryClient()
  const { releases } = usePorts()
  useEffect(() => {
    const key = { namespace, name }
    const renewer = (apartMs: number, queryKey: readonly string[]): Renewer =>
      createRenewer({ clock: systemClock, apartMs, renew: () => client.invalidateQueries({ queryKey }) })
    const report = renewer(AGAIN_MS, reportKeyOf(key))
    const others = renewer(OTHERS_AGAIN_MS, queryKeyOf(key))
    const all = renewer(AGAIN_MS, queryKeyOf(key))
    const read = (): RolloutSummary | undefined => releases.snapshot().rollouts.get(textOfKey(key))
    let known = read()
    const unsubscribe = releases.subscribe(() => {
      const summary = read()
      if (summary === known) return
      // The first summary is no news: the page has just read everything.
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
  }, [client, releases, namespace, name])
}
