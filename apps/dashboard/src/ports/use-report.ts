import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import type { RolloutReport } from '@tranche/api-schema'
import { useEffect, useRef } from 'react'
import { useSummary } from './use-fleet.ts'
import { usePorts } from './dashboard-ports.ts'

/** Shortest time between two reads of the same Rollout, in milliseconds. */
const AGAIN_MS = 1_000

/** Beginning of the keys of all data of one Rollout, which is read again when the Rollout changes. */
export function queryKeyOf({ namespace, name }: ApiKey): readonly string[] {
  return ['rollout', namespace, name]
}

/** Reads a Rollout in full, and again after each change that the stream reports, at most once a second. */
export function useReport(key: ApiKey): UseQueryResult<RolloutReport> {
  const { api } = usePorts()
  useRenewal(key)
  return useQuery({ queryKey: [...queryKeyOf(key), 'report'], queryFn: ({ signal }) => api.rollout(key, { signal }) })
}

function useRenewal(key: ApiKey): void {
  const client = useQueryClient()
  const summary = useSummary(key)
  const lastMs = useRef(0)
  const { namespace, name } = key
  useEffect(() => {
    if (summary === undefined) return
    const waitMs = Math.max(0, lastMs.current + AGAIN_MS - performance.now())
    const timer = setTimeout(() => {
      lastMs.current = performance.now()
      void client.invalidateQueries({ queryKey: queryKeyOf({ namespace, name }) })
    }, waitMs)
    return () => clearTimeout(timer)
  }, [client, summary, namespace, name])
}
