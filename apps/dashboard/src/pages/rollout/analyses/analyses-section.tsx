import { useQuery } from '@tanstack/react-query'
import type { RolloutReport } from '@tranche/api-schema'
import { type ReactNode, useState } from 'react'
import { usePorts } from '../../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../../ports/renew-when-changed.ts'
import { AnalysisTile } from './analysis-tile.tsx'
import { collectMeasurements, type KeptMeasurements, runOf } from './collect-measurements.ts'
import { renewalMs } from './renewal.ts'
import { SoakCountdown } from './soak-countdown.tsx'

/** What the release measures: the soak, and a tile for each analysis. Nothing without a release. */
export function AnalysesSection({ report }: { readonly report: RolloutReport }): ReactNode {
  const { analyses = [] } = report
  useMeasuredReport(report)
  const [kept, setKept] = useState<KeptMeasurements>(new Map())
  const collected = collectMeasurements(kept, analyses)
  if (collected !== kept) setKept(collected)
  if (analyses.length === 0 && report.remaining?.of !== 'soak') return null
  return (
    <section aria-labelledby="analyses-title" className="analyses">
      <h2 id="analyses-title">Analyses {analyses.length === 0 ? null : <span className="count">{analyses.length}</span>}</h2>
      <SoakCountdown report={report} />
      <ul className="analysis-tiles">
        {analyses.map((analysis) => (
          <AnalysisTile key={runOf(analysis)} analysis={analysis} measurements={collected.get(runOf(analysis)) ?? []} />
        ))}
      </ul>
    </section>
  )
}

/** Reads the report again when a measurement is due. */
function useMeasuredReport({ namespace, name }: RolloutReport): void {
  const { api, nowMs } = usePorts()
  const key = { namespace, name }
  useQuery({
    queryKey: [...queryKeyOf(key), 'report'],
    queryFn: ({ signal }) => api.rollout(key, { signal }),
    refetchInterval: ({ state }) => renewalMs(state.data?.analyses, nowMs()),
  })
}
