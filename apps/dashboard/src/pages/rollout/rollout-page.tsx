import type { ApiKey } from '@tranche/api-client'
import type { ReactNode } from 'react'
import { PageMain } from '../../parts/page-main.tsx'
import { useIsGone } from '../../ports/use-fleet.ts'
import { useNodes } from '../../ports/use-nodes.ts'
import { PlaceLink } from '../../parts/place-link.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { ActionBar } from './actions/action-bar.tsx'
import { AnalysesSection } from './analyses/analyses-section.tsx'
import { BudgetPicture } from './budget-picture.tsx'
import { ConditionsSection } from './conditions-section.tsx'
import { EventsSection } from './events-section.tsx'
import { HistorySection } from './history/history-section.tsx'
import { BlockedNodes } from './blocked-nodes.tsx'
import { LeftNodesSection } from './left-nodes.tsx'
import { NodesSection } from './nodes/nodes-section.tsx'
import { PinnedConfigSection } from './pinned-config.tsx'
import { PrintReport } from './release-report/print-report.tsx'
import { RevisionsSection } from './revisions/revisions-section.tsx'
import { RolloutHeader } from './rollout-header.tsx'
import { StatusNote } from './status-note.tsx'
import { StepTrack } from './step-track.tsx'
import { UnwellNodes } from './unwell-nodes.tsx'
import { useMissing } from '../../ports/dashboard-ports.ts'
import { useExplanation } from './use-explanation.ts'
import { useReport } from '../../ports/use-report.ts'

/** Properties of {@link RolloutPage}. */
interface RolloutPageProps {
  readonly rollout: ApiKey
  readonly query: Readonly<Record<string, string>>
}

/** One Rollout: its release, its health, its wait, and the actions of the user. */
export function RolloutPage({ rollout, query }: RolloutPageProps): ReactNode {
  const { data: report, error, refetch } = useReport(rollout)
  const explanation = useExplanation(rollout, report)
  const nodes = useNodes(rollout)
  const isGone = useIsGone(rollout)
  const missing = useMissing()

  if (isGone && report !== undefined) return <Gone rollout={rollout} />
  if (report === undefined)
    return (
      <PageMain className="page-note">
        <h1>
          <bdi>{rollout.name}</bdi>
        </h1>
        {error === null ? <p role="status">Reading {rollout.name}…</p> : <ProblemNote error={error} retry={() => void refetch()} />}
      </PageMain>
    )
  return (
    <PageMain className="rollout">
      {missing.print === undefined ? <PrintReport report={report} nodes={nodes} /> : null}
      <RolloutHeader report={report} />
      {error === null ? null : <ProblemNote error={error} retry={() => void refetch()} />}
      <StatusNote report={report} explanation={explanation} />
      <ActionBar report={report} />
      <StepTrack report={report} />
      <AnalysesSection report={report} />
      <div className="columns">
        <NodesSection report={report} nodes={nodes} query={query} />
        <aside>
          <BudgetPicture report={report} />
          <UnwellNodes report={report} nodes={nodes} />
          <BlockedNodes report={report} />
          <LeftNodesSection report={report} />
          <PinnedConfigSection report={report} />
        </aside>
      </div>
      <RevisionsSection report={report} />
      <HistorySection rollout={rollout} query={query} />
      <ConditionsSection report={report} />
      {missing.events === undefined ? <EventsSection rollout={rollout} /> : null}
    </PageMain>
  )
}

function Gone({ rollout }: { readonly rollout: ApiKey }): ReactNode {
  return (
    <PageMain className="empty">
      <h1>
        <bdi>{rollout.name}</bdi> is gone
      </h1>
      <p>The Rollout was deleted, or you may no longer see it. Its nodes keep the pods that they have.</p>
      <p>
        <PlaceLink to={{ view: 'fleet' }}>All rollouts</PlaceLink>
      </p>
    </PageMain>
  )
}
