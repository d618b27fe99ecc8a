import { useQuery } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import { sleep, systemClock } from '@tranche/clock'
import { type ReactNode, useState } from 'react'
import { countText, timeSpanText } from '../../../format/duration.ts'
import { ProblemNote } from '../../../parts/problem-note.tsx'
import { usePorts } from '../../../ports/dashboard-ports.ts'
import { runPlan } from '../../plan/run-plan.ts'

const wait = async (ms: number, signal: AbortSignal): Promise<void> => sleep(systemClock, ms, signal)

/** Forecast of the release, computed on request: the server plays the whole release, which can take seconds. */
export function ActionForecast({ rollout: { namespace, name } }: { readonly rollout: ApiKey }): ReactNode {
  const { api } = usePorts()
  const [isWanted, setWanted] = useState(false)
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['forecast', namespace, name],
    queryFn: ({ signal }) => runPlan({ namespace, name }, {}, { api, signal, wait }),
    enabled: isWanted,
    staleTime: 0,
  })
  if (!isWanted)
    return (
      <p>
        <button type="button" onClick={() => setWanted(true)}>
          Forecast what will happen
        </button>
      </p>
    )
  if (isFetching) return <p role="status">Simulating the release in virtual time…</p>
  if (error !== null) return <ProblemNote error={error} retry={() => void refetch()} />
  if (data === undefined) return null
  const { nodesHit, peakUnavailable, maxUnavailable, etaSeconds, message, batches } = data
  return (
    <div className="forecast" role="status">
      <p>
        Forecast: {countText(nodesHit, 'node')} on the new version after {batches.length} {batches.length === 1 ? 'batch' : 'batches'}, at
        most {peakUnavailable} down at a time (limit {maxUnavailable})
        {etaSeconds === null ? '' : `, ${timeSpanText(etaSeconds.low * 1000)} to ${timeSpanText(etaSeconds.high * 1000)} from now`}.
      </p>
      <p className="prose">{message}</p>
    </div>
  )
}
