import type { RolloutSummary } from '@tranche/api-schema'
import { type ReactNode, useDeferredValue, useMemo } from 'react'
import { PageMain } from '../../parts/page-main.tsx'
import { countText } from '../../format/duration.ts'
import { useFleet } from '../../ports/use-fleet.ts'
import { useGrowingList } from '../../parts/use-growing-list.ts'
import { usePorts } from '../../ports/dashboard-ports.ts'
import { EmptyFleet } from './empty-fleet.tsx'
import { FleetFilters } from './fleet-filters.tsx'
import { type FleetFilter, type FleetGroup, filterOf, groupFleet, queryOf } from './fleet-filter.ts'
import { FleetRow } from './fleet-row.tsx'

/** Properties of {@link FleetPage}. */
interface FleetPageProps {
  readonly query: Readonly<Record<string, string>>
}

const headings: Readonly<Record<FleetGroup, string>> = {
  needsYou: 'Needs you',
  running: 'In progress',
  well: 'Up to date',
  off: 'Disabled',
}

/** Every Rollout that the user may see; those that wait for a person first. */
export function FleetPage({ query }: FleetPageProps): ReactNode {
  const { rollouts, isComplete } = useFleet()
  const { go } = usePorts()
  const filter = filterOf(query)
  const shown = useDeferredValue(filterKey(filter))
  const groups = useMemo(() => groupFleet(rollouts.values(), JSON.parse(shown) as FleetFilter), [rollouts, shown])
  const onChange = (next: FleetFilter): void => go({ view: 'fleet', query: queryOf(next) }, 'replace')

  if (!isComplete)
    return (
      <p className="page-note" role="status">
        Reading rollouts…
      </p>
    )
  if (rollouts.size === 0) return <EmptyFleet />
  return (
    <PageMain>
      <h1 className="visually-hidden">Rollouts</h1>
      <FleetFilters filter={filter} rollouts={rollouts} onChange={onChange} />
      {groups.length === 0 ? (
        <p className="page-note" role="status">
          No rollout matches.{' '}
          <button type="button" onClick={() => onChange(filterOf({}))}>
            Show all {rollouts.size}
          </button>
        </p>
      ) : null}
      {groups.map(({ group, rollouts: members }, index) => (
        <FleetTable key={group} group={group} rollouts={members} above={rowsOf(groups.slice(0, index))} />
      ))}
    </PageMain>
  )
}

function filterKey(filter: FleetFilter): string {
  return JSON.stringify(filter)
}

function rowsOf(groups: readonly { readonly rollouts: readonly unknown[] }[]): number {
  return groups.reduce((sum, { rollouts }) => sum + rollouts.length, 0)
}

/** Properties of {@link FleetTable}. */
interface FleetTableProps {
  readonly group: FleetGroup
  readonly rollouts: readonly RolloutSummary[]
  /** Rows of the tables above. */
  readonly above: number
}

function FleetTable({ group, rollouts, above }: FleetTableProps): ReactNode {
  const { shown, end } = useGrowingList(rollouts.length, { above })
  return (
    <section className={`fleet-group fleet-${group}`} aria-labelledby={`fleet-${group}`}>
      <h2 id={`fleet-${group}`}>
        {headings[group]} <span className="count">{rollouts.length}</span>
      </h2>
      <table className="fleet">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Rollout</th>
            <th scope="col">Version</th>
            <th scope="col">Progress</th>
            <th scope="col">Nodes</th>
            <th scope="col">Waits for</th>
            <th scope="col">Since</th>
            <th scope="col">Ends</th>
          </tr>
        </thead>
        <tbody>
          {rollouts.slice(0, shown).map((rollout) => (
            <FleetRow key={`${rollout.namespace}/${rollout.name}`} rollout={rollout} />
          ))}
        </tbody>
      </table>
      {shown < rollouts.length ? (
        <p ref={end} key={shown} className="quiet">
          {countText(rollouts.length - shown, 'rollout')} more
        </p>
      ) : null}
    </section>
  )
}
