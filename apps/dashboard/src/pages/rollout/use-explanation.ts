import { useQuery } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import type { Explanation, RolloutReport } from '@tranche/api-schema'
import { usePorts } from '../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../ports/renew-when-changed.ts'
import { turningPointOf } from '../../ports/turning-point.ts'

/** Reads the explanation of a Rollout, and again at each turning point. @returns undefined until that of the present point has arrived */
export function useExplanation(key: ApiKey, report: RolloutReport | undefined): Explanation | undefined {
  const { api } = usePorts()
  const { data } = useQuery({
    queryKey: [...queryKeyOf(key), 'explain', turningPointOf(report)],
    queryFn: ({ signal }) => api.explain(key, { signal }),
    enabled: report !== undefined,
  })
  return data
}
