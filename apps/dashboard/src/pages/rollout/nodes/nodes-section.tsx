import type { NodeReport, ReportedNodeState, RolloutReport } from '@tranche/api-schema'
import { type ReactNode, useDeferredValue, useMemo } from 'react'
import { nodeLooks, nodeStateOrder } from '../../../format/outcome-text.ts'
import { usePorts } from '../../../ports/dashboard-ports.ts'
import { countNodeStates, filterNodes, type NodeFilter, nodeFilterOf, nodeQueryOf } from './node-filter.ts'
import { NodeMap } from './node-map.tsx'
import { NodeTable } from './node-table.tsx'

/** Properties of {@link NodesSection}. */
interface NodesSectionProps {
  readonly report: RolloutReport
  /** Undefined until the first list has arrived. */
  readonly nodes: ReadonlyMap<string, NodeReport> | undefined
  readonly query: Readonly<Record<string, string>>
}

/** The nodes of a release as a map by zone, and the same nodes as a sortable table. */
export function NodesSection({ report, nodes, query }: NodesSectionProps): ReactNode {
  const { go } = usePorts()
  const key = { namespace: report.namespace, name: report.name }
  const filter = nodeFilterOf(query)
  const later = useDeferredValue(nodes)
  const counts = useMemo(() => countNodeStates(later?.values() ?? []), [later])
  const shown = useMemo(() => filterNodes(later?.values() ?? [], nodeFilterOf(query)), [later, query])
  const change = (next: NodeFilter): void => go({ view: 'rollout', key, query: nodeQueryOf(next) }, 'replace')
  return (
    <section aria-labelledby="nodes-title" className="nodes">
      <h2 id="nodes-title">
        Nodes <span className="count">{later === undefined ? report.nodes.desired : later.size}</span>
      </h2>
      <StateFilter counts={counts} filter={filter} onChange={change} />
      {later === undefined ? (
        <p role="status">{report.nodes.desired === 0 ? 'No node runs this DaemonSet.' : 'Reading nodes…'}</p>
      ) : (
        <NodeMap nodes={shown} onOpen={(node) => go({ view: 'node', key, node })} />
      )}
      <details
        open={filter.isTable}
        onToggle={(event) => event.currentTarget.open !== filter.isTable && change({ ...filter, isTable: event.currentTarget.open })}
      >
        <summary>Table of these {shown.length} nodes</summary>
        {filter.isTable ? <NodeTable rollout={key} nodes={shown} filter={filter} onChange={change} /> : null}
      </details>
    </section>
  )
}

/** Properties of {@link StateFilter}. */
interface StateFilterProps {
  readonly counts: Partial<Readonly<Record<ReportedNodeState, number>>>
  readonly filter: NodeFilter
  readonly onChange: (filter: NodeFilter) => void
}

/** Legend of the map; a click shows only the nodes of that state. */
function StateFilter({ counts, filter, onChange }: StateFilterProps): ReactNode {
  return (
    <fieldset className="state-filter">
      <legend className="visually-hidden">Show only nodes in state</legend>
      {nodeStateOrder
        .filter((state) => counts[state] !== undefined || filter.state === state)
        .map((state) => {
          const { glyph, word, tone } = nodeLooks[state]
          const isOn = filter.state === state
          return (
            <button
              key={state}
              type="button"
              className={`chip tone-${tone}`}
              aria-pressed={isOn}
              onClick={() => onChange({ ...filter, state: isOn ? null : state })}
            >
              <span aria-hidden="true" className="glyph">
                {glyph}
              </span>{' '}
              {counts[state] ?? 0} {word}
            </button>
          )
        })}
      <label>
        <span className="visually-hidden">Search nodes</span>
        <input
          type="search"
          placeholder="Node or zone"
          value={filter.text}
          onChange={(event) => onChange({ ...filter, text: event.target.value })}
        />
      </label>
    </fieldset>
  )
}
