import type { ApiKey } from '@tranche/api-client'
import type { NodeReport } from '@tranche/api-schema'
import { type ReactNode, useMemo } from 'react'
import { nodeLooks } from '../../format/outcome-text.ts'
import { PlaceLink } from '../../parts/place-link.tsx'
import { useArrowKeys } from '../../parts/use-arrow-keys.ts'
import { usePorts } from '../../ports/dashboard-ports.ts'
import { neighboursOf } from './neighbours.ts'

/** Properties of {@link NeighbourLinks}. */
interface NeighbourLinksProps {
  readonly rollout: ApiKey
  readonly nodes: ReadonlyMap<string, NodeReport> | undefined
  readonly node: string
}

/** Links to the previous and the next node in the same state; the keys ← and → follow them. */
export function NeighbourLinks({ rollout, nodes, node }: NeighbourLinksProps): ReactNode {
  const { go } = usePorts()
  const neighbours = useMemo(() => (nodes === undefined ? null : neighboursOf(nodes, node)), [nodes, node])
  const state = nodes?.get(node)?.state
  const { previous = null, next = null } = neighbours ?? {}
  const follow = (to: string | null): (() => void) | null => (to === null ? null : () => go({ view: 'node', key: rollout, node: to }))
  useArrowKeys({ onLeft: follow(previous), onRight: follow(next) })
  if (neighbours === null || state === undefined) return null
  return (
    <nav aria-label={`Nodes in state ${nodeLooks[state].word}`} className="neighbours">
      <Neighbour rollout={rollout} to={previous}>
        <span aria-hidden="true">←</span> Previous
      </Neighbour>
      <PlaceLink to={{ view: 'rollout', key: rollout, query: { state, table: 'true' } }}>
        {neighbours.position} of {neighbours.count} {nodeLooks[state].word}
      </PlaceLink>
      <Neighbour rollout={rollout} to={next}>
        Next <span aria-hidden="true">→</span>
      </Neighbour>
      <span role="status" className="visually-hidden">
        {node}, {nodeLooks[state].word}, {neighbours.position} of {neighbours.count}
      </span>
    </nav>
  )
}

/** Properties of {@link Neighbour}. */
interface NeighbourProps {
  readonly rollout: ApiKey
  readonly to: string | null
  readonly children: ReactNode
}

function Neighbour({ rollout, to, children }: NeighbourProps): ReactNode {
  if (to === null) return <span className="quiet">{children}</span>
  return <PlaceLink to={{ view: 'node', key: rollout, node: to }}>{children}</PlaceLink>
}
