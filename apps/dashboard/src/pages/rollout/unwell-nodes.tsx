import type { NodeReport, RolloutReport } from '@tranche/api-schema'
import { type ReactNode, useMemo } from 'react'
import { countText } from '../../format/duration.ts'
import { PlaceLink } from '../../parts/place-link.tsx'
import { Age } from '../../parts/time.tsx'
import { groupUnwell, type UnwellGroup } from './nodes/group-unwell.ts'

/** Properties of {@link UnwellNodes}. */
interface UnwellNodesProps {
  readonly report: RolloutReport
  readonly nodes: ReadonlyMap<string, NodeReport> | undefined
}

/** Nodes that are not well, by reason: how many, an example with exit code and last message, and their names. */
export function UnwellNodes({ report, nodes }: UnwellNodesProps): ReactNode {
  const { failure, outcome } = report
  const isOver = outcome === 'Done' || outcome === 'RolledBack'
  const groups = useMemo(() => groupUnwell(failure, nodes?.values() ?? [], isOver), [failure, nodes, isOver])
  return (
    <section aria-labelledby="unwell-title" className="unwell">
      <h2 id="unwell-title">Not well</h2>
      {groups.length === 0 ? <p className="tone-good">Every node is well.</p> : null}
      {groups.map((group) => (
        <Group key={group.title} group={group} report={report} />
      ))}
    </section>
  )
}

/** Maximum number of nodes that a group names. */
const MOST_NAMES = 8

function Group({ group, report }: { readonly group: UnwellGroup; readonly report: RolloutReport }): ReactNode {
  const { title, tone, nodes, example } = group
  const key = { namespace: report.namespace, name: report.name }
  return (
    <div className="unwell-group">
      <h3 className={`tone-${tone}`}>
        <bdi>{title}</bdi> <span className="count">{countText(nodes.length, 'node')}</span>
      </h3>
      {example === undefined ? null : (
        <p className="prose">
          {example.container === undefined ? null : (
            <>
              container <code>{example.container}</code>{' '}
            </>
          )}
          {example.exitCode === undefined ? null : <strong>exit code {example.exitCode} </strong>}
          {example.restarts === undefined ? null : <>{countText(example.restarts, 'restart')} </>}
          {example.message === undefined ? null : <q className="prose">{example.message}</q>}
        </p>
      )}
      <ul className="names">
        {nodes.slice(0, MOST_NAMES).map(({ name, since }) => (
          <li key={name}>
            <PlaceLink to={{ view: 'node', key, node: name }}>
              <bdi>{name}</bdi>
            </PlaceLink>{' '}
            {since === undefined ? null : (
              <span className="quiet">
                <Age at={since} />
              </span>
            )}
          </li>
        ))}
        {nodes.length > MOST_NAMES ? <li className="quiet">and {nodes.length - MOST_NAMES} more</li> : null}
      </ul>
    </div>
  )
}
