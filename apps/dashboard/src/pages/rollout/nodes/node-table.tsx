import type { ApiKey } from '@tranche/api-client'
import type { NodeReport } from '@tranche/api-schema'
import { memo, type ReactNode } from 'react'
import { nodeWhy } from '../../../format/node-why.ts'
import { nodeLooks } from '../../../format/outcome-text.ts'
import { PlaceLink } from '../../../parts/place-link.tsx'
import { StateBadge } from '../../../parts/state-badge.tsx'
import { Age } from '../../../parts/time.tsx'
import { useGrowingList } from '../../../parts/use-growing-list.ts'
import type { NodeFilter, NodeSort } from './node-filter.ts'

/** Properties of {@link NodeTable}. */
interface NodeTableProps {
  readonly rollout: ApiKey
  readonly nodes: readonly NodeReport[]
  readonly filter: NodeFilter
  readonly onChange: (filter: NodeFilter) => void
}

const columns: readonly { readonly sort: NodeSort; readonly title: string }[] = [
  { sort: 'state', title: 'State' },
  { sort: 'name', title: 'Node' },
  { sort: 'zone', title: 'Zone' },
  { sort: 'since', title: 'Since' },
  { sort: 'batch', title: 'Batch' },
  { sort: 'restarts', title: 'Restarts' },
]

/** Nodes as a table, the equivalent of the map. A click on a heading sorts, a second one reverses the order. */
export function NodeTable({ rollout, nodes, filter, onChange }: NodeTableProps): ReactNode {
  const { shown, end } = useGrowingList(nodes.length)
  const sortBy = (sort: NodeSort): void => onChange({ ...filter, sort, isDescending: filter.sort === sort && !filter.isDescending })
  return (
    <>
      <table className="plain node-table">
        <thead>
          <tr>
            {columns.map(({ sort, title }) => (
              <th key={sort} scope="col" aria-sort={filter.sort !== sort ? 'none' : filter.isDescending ? 'descending' : 'ascending'}>
                <button type="button" onClick={() => sortBy(sort)}>
                  {title}
                  <span aria-hidden="true">{filter.sort !== sort ? '' : filter.isDescending ? ' ▼' : ' ▲'}</span>
                </button>
              </th>
            ))}
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {nodes.slice(0, shown).map((node) => (
            <NodeRow key={node.name} namespace={rollout.namespace} name={rollout.name} node={node} />
          ))}
        </tbody>
      </table>
      {shown < nodes.length ? (
        <p ref={end} key={shown} className="quiet">
          {nodes.length - shown} more
        </p>
      ) : null}
    </>
  )
}

interface NodeRowProps extends ApiKey {
  readonly node: NodeReport
}

const NodeRow = memo(function NodeRow({ namespace, name: rollout, node }: NodeRowProps): ReactNode {
  const { name, state, zone, since, batch, restarts } = node
  return (
    <tr>
      <td>
        <StateBadge look={nodeLooks[state]} />
      </td>
      <th scope="row">
        <PlaceLink to={{ view: 'node', key: { namespace, name: rollout }, node: name }}>
          <bdi>{name}</bdi>
        </PlaceLink>
      </th>
      <td>
        <bdi>{zone === '' ? '–' : zone}</bdi>
      </td>
      <td>
        <Age at={since} />
      </td>
      <td>{batch ?? '–'}</td>
      <td>{restarts ?? 0}</td>
      <td className="prose">{nodeWhy(node)}</td>
    </tr>
  )
})
