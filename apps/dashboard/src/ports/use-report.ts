import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import type { RolloutReport } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { useCallback, useEffect, useRef } from 'react'
import { useSummary } from './use-fleet.ts'
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

function useRenewal({ namespace, name }: ApiKey): void {
  const client = useQueryClient()
  const summary = useSummary({ namespace, name })
  const report = useCallback(() => client.invalidateQueries({ queryKey: reportKeyOf({ namespace, name }) }), [client, namespace, name])
  const all = useCallback(() => client.invalidateQueries({ queryKey: queryKeyOf({ namespace, name }) }), [client, namespace, name])
  useRenewedAfter(summary, AGAIN_MS, report)
  useRenewedAfter(summary, OTHERS_AGAIN_MS, all)
  useRenewedAfter(summary && turningPointOf(summary), AGAIN_MS, all)
}

/** Calls `renew` after each change of `value`. */
function useRenewedAfter(value: unknown, apartMs: number, renew: () => Promise<unknown>): void {
  const renewer = useRef<Renewer | null>(null)
  const known = useRef(value)
  useEffect(() => {
    const created = createRenewer({ clock: systemClock, apartMs, renew })
    renewer.current = created
    return () => created.stop()
  }, [apartMs, renew])
  useEffect(() => {
    if (value === known.current) return
    known.current = value
    renewer.current?.changed()
  }, [value])
}
