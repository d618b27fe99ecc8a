import { useQuery } from '@tanstack/react-query'
import type { BatchReport, NodeReport, RolloutReport } from '@tranche/api-schema'
import { type ReactNode, useState } from 'react'
import { usePorts } from '../../../ports/dashboard-ports.ts'
import { useHistory } from '../history/history-section.tsx'
import { type BudgetPeak, observePeak } from './budget-peak.ts'
import { PrintedReport } from './printed-report.tsx'
import { usePrinting } from './use-printing.ts'

/** Properties of {@link PrintReport}. */
interface PrintReportProps {
  readonly report: RolloutReport
  readonly nodes: ReadonlyMap<string, NodeReport> | undefined
}

/** Button that prints a report of the release. The report itself is only on paper, where it takes the place of the page. */
export function PrintReport({ report, nodes }: PrintReportProps): ReactNode {
  const { nowMs } = usePorts()
  const [peak, setPeak] = useState<BudgetPeak | undefined>()
  const observed = observePeak(peak, report, nowMs())
  if (observed !== peak) setPeak(observed)
  const { data: history } = useHistory({ namespace: report.namespace, name: report.name })
  const batches = useBatches(report)
  const isPrinting = usePrinting()
  return (
    <>
      <p className="print-button">
        <button type="button" onClick={() => window.print()}>
          Print report
        </button>
      </p>
      {isPrinting ? <PrintedReport report={report} history={history} batches={batches} nodes={nodes} peak={observed} /> : null}
    </>
  )
}

/** Time for which the batches of an earlier point are kept, in milliseconds: no page shows them again. */
const OLD_BATCHES_MS = 10_000

/** Reads the batches again when the release is at another point: not with every node. */
function useBatches({ namespace, name, canaryRevision, step, outcome }: RolloutReport): readonly BatchReport[] {
  const { api } = usePorts()
  const { data = [] } = useQuery({
    queryKey: ['batches', namespace, name, canaryRevision, step?.index, step?.state, outcome],
    queryFn: ({ signal }) => api.batches({ namespace, name }, { signal }),
    gcTime: OLD_BATCHES_MS,
  })
  return data
}
