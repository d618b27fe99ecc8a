import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import type { Explanation, NodeReport } from '@tranche/api-schema'
import { isAppError } from '@tranche/errors'
import { type ReactNode, useEffect } from 'react'
import { PageMain } from '../../parts/page-main.tsx'
import { nodeLooks } from '../../format/outcome-text.ts'
import { useNodes } from '../../ports/use-nodes.ts'
import { Crumbs } from '../../parts/crumbs.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { useMissing, usePorts } from '../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../ports/renew-when-changed.ts'
import { useReport } from '../../ports/use-report.ts'
import { ExplanationSection } from './explanation-section.tsx'
import { NeighbourLinks } from './neighbour-links.tsx'
import { NodeEventsSection } from './node-events-section.tsx'
import { NodeSummary } from './node-summary.tsx'
import { NextSection } from './next-section.tsx'

/** Properties of {@link NodePage}. */
interface NodePageProps {
  readonly rollout: ApiKey
  /** Name of the node. */
  readonly node: string
}

/** One node of a Rollout: its state, why it is in it, and what would change that. */
export function NodePage({ rollout, node: name }: NodePageProps): ReactNode {
  const { data: report, error, refetch } = useReport(rollout)
  const nodes = useNodes(rollout)
  const node = nodes?.get(name)
  const explained = useExplanation(rollout, name, node)
  const missing = useMissing()

  return (
    <PageMain className="node-view">
      <header className="rollout-header">
        <Crumbs rollout={rollout} />
        <h1>
          <bdi>{name}</bdi> {node === undefined ? null : <StateBadge look={nodeLooks[node.state]} />}
        </h1>
        <NeighbourLinks rollout={rollout} nodes={nodes} node={name} />
      </header>
      {error === null ? null : <ProblemNote error={error} retry={() => void refetch()} />}
      {node === undefined && nodes !== undefined ? <NotWanted rollout={rollout} /> : null}
      {node === undefined ? null : <NodeSummary node={node} report={report} />}
      {explained.data === null ? null : (
        <div className="halves">
          <ExplanationSection explained={explained} explanation={explained.data} />
          <NextSection rollout={rollout} name={name} node={node} explanation={explained.data} />
        </div>
      )}
      {explained.data === null || missing.events !== undefined ? null : <NodeEventsSection rollout={rollout} name={name} />}
    </PageMain>
  )
}

/** Reads the explanation, and again whenever the node or the Rollout changes. */
function useExplanation(rollout: ApiKey, name: string, node: NodeReport | undefined): UseQueryResult<Explanation | null> {
  const { api } = usePorts()
  const explained = useQuery({
    queryKey: [...queryKeyOf(rollout), 'explain', name],
    queryFn: ({ signal }) => api.explainNode(rollout, name, { signal }).catch(nullIfUnknown),
  })
  const { refetch } = explained
  useEffect(() => {
    if (node !== undefined) void refetch({ cancelRefetch: false })
  }, [node, refetch])
  return explained
}

function nullIfUnknown(error: unknown): null {
  if (isAppError(error) && error.code === 'NODE_NOT_FOUND') return null
  throw error
}

function NotWanted({ rollout }: { readonly rollout: ApiKey }): ReactNode {
  return (
    <section aria-labelledby="not-wanted-title">
      <h2 id="not-wanted-title">Not part of this Rollout</h2>
      <p>
        The DaemonSet of <bdi>{rollout.name}</bdi> does not run on a node of this name. Either there is no such node, or its labels or
        taints keep the DaemonSet off it. A release does not touch it.
      </p>
    </section>
  )
}
