import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import type { RolloutReport } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { useEffect } from 'react'
import { usePorts } from './dashboard-ports.ts'
import { renewWhenChanged, reportKeyOf } from './renew-when-changed.ts'

/** Reads a Rollout in full, and again after each change that the stream reports, at most once a second. */
export function useReport(key: ApiKey): UseQueryResult<RolloutReport> {
  const { api } = usePorts()
  useRenewal(key)
  return useQuery({ queryKey: reportKeyOf(key), queryFn: ({ signal }) => api.rollout(key, { signal }) })
}

/** Renders nothing: a large fleet changes ten times a second. */
function useRenewal({ namespace, name }: ApiKey): void {
  const queries = useQueryClient()
  const { releases } = usePorts()
  useEffect(() => renewWhenChanged({ queries, releases, clock: systemClock }, { namespace, name }), [queries, releases, namespace, name])
}
