import type { ApiKey } from '@tranche/api-client'
import type { Forecast } from '@tranche/api-schema'
import { memo, type ReactNode, useId, useMemo } from 'react'
import { countText, timeSpanText } from '../../format/duration.ts'
import { LongText } from '../../parts/long-text.tsx'
import { PlaceLink } from '../../parts/place-link.tsx'
import { useGrowingList } from '../../parts/use-growing-list.ts'

type PlannedNode = Forecast['nodes'][number]

/** Properties of {@link PlanNodes}. */
interface PlanNodesProps {
  readonly rollout: ApiKey
  /** In update order; nodes that would not be updated come last. */
  readonly nodes: readonly PlannedNode[]
  /** Text in the name. */
  readonly filter: string
  readonly onFilter: (filter: string) => void
}

/** The nodes in the order in which they would be updated, each with its reason. */
export function PlanNodes({ rollout, nodes, filter, onFilter }: PlanNodesProps): ReactNode {
  const id = useId()
  const matching = useMemo(() => nodes.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase())), [nodes, filter])
  const { shown, end } = useGrowingList(matching.length)
  return (
    <>
      <h3 id={id}>Nodes in order</h3>
      <label className="filters">
        <span className="visually-hidden">Search nodes</span>
        <input type="search" placeholder="Node" value={filter} onChange={(event) => onFilter(event.target.value)} />
        <span className="count">
          {matching.length === nodes.length ? countText(nodes.length, 'node') : `${matching.length} of ${countText(nodes.length, 'node')}`}
        </span>
      </label>
      {matching.length === 0 ? (
        <p className="quiet">{nodes.length === 0 ? 'The release has no nodes.' : 'No node has this text in its name.'}</p>
      ) : (
        <table className="plain node-table plan-nodes" aria-labelledby={id}>
          <thead>
            <tr>
              <th scope="col">Order</th>
              <th scope="col">Node</th>
              <th scope="col">Batch</th>
              <th scope="col">After</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {matching.slice(0, shown).map((node) => (
              <NodeRow key={node.name} namespace={rollout.namespace} rollout={rollout.name} node={node} />
            ))}
          </tbody>
        </table>
      )}
      {shown < matching.length ? (
        <p ref={end} key={shown} className="quiet">
          {matching.length - shown} more
        </p>
      ) : null}
    </>
  )
}

interface NodeRowProps {
  readonly namespace: string
  readonly rollout: string
  readonly node: PlannedNode
}

const NodeRow = memo(function NodeRow({ namespace, rollout, node: { name, batch, order, reason, atSeconds } }: NodeRowProps): ReactNode {
  return (
    <tr>
      <td>{order === 0 ? '–' : order}</td>
      <th scope="row">
        <PlaceLink to={{ view: 'node', key: { namespace, name: rollout }, node: name }}>
          <bdi>{name}</bdi>
        </PlaceLink>
      </th>
      <td className="nowrap">{batch === 0 ? '–' : batch}</td>
      <td className="nowrap">{atSeconds === undefined ? '–' : timeSpanText(atSeconds * 1_000)}</td>
      <td className="plan-reason">
        <LongText>{reason}</LongText>
      </td>
    </tr>
  )
})
