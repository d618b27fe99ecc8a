import type { RolloutSummary } from '@tranche/api-schema'
import { type ReactNode, useMemo } from 'react'
import { type FleetFilter, type FleetGroup, fleetGroups, type FleetSort, fleetSorts, groupOf } from './fleet-filter.ts'

/** Properties of {@link FleetFilters}. */
interface FleetFiltersProps {
  readonly filter: FleetFilter
  readonly rollouts: ReadonlyMap<string, RolloutSummary>
  readonly onChange: (filter: FleetFilter) => void
}

const groupWords: Readonly<Record<FleetGroup, string>> = {
  needsYou: 'Needs you',
  running: 'In progress',
  well: 'Up to date',
  off: 'Disabled',
}
const sortWords: Readonly<Record<FleetSort, string>> = { urgency: 'Urgency', name: 'Name', progress: 'Progress', age: 'Longest wait' }

/** Search, filters and sort of the fleet. They are in the URL, so that a link leads to the same list. */
export function FleetFilters({ filter, rollouts, onChange }: FleetFiltersProps): ReactNode {
  const { namespaces, counts } = useMemo(() => summarize(rollouts), [rollouts])
  return (
    <search className="filters">
      <label>
        <span className="visually-hidden">Search rollouts</span>
        <input
          type="search"
          placeholder="Name, namespace or image"
          value={filter.text}
          onChange={(event) => onChange({ ...filter, text: event.target.value })}
        />
      </label>
      <label>
        Namespace{' '}
        <select value={filter.namespace} onChange={(event) => onChange({ ...filter, namespace: event.target.value })}>
          <option value="">all</option>
          {namespaces.map((namespace) => (
            <option key={namespace}>{namespace}</option>
          ))}
        </select>
      </label>
      <label>
        State{' '}
        <select
          value={filter.group ?? ''}
          onChange={(event) => onChange({ ...filter, group: fleetGroups.find((one) => one === event.target.value) ?? null })}
        >
          <option value="">all ({rollouts.size})</option>
          {fleetGroups.map((group) => (
            <option key={group} value={group}>
              {groupWords[group]} ({counts.get(group) ?? 0})
            </option>
          ))}
        </select>
      </label>
      <label>
        Sort by{' '}
        <select
          value={filter.sort}
          onChange={(event) => onChange({ ...filter, sort: fleetSorts.find((one) => one === event.target.value) ?? 'urgency' })}
        >
          {fleetSorts.map((sort) => (
            <option key={sort} value={sort}>
              {sortWords[sort]}
            </option>
          ))}
        </select>
      </label>
    </search>
  )
}

function summarize(rollouts: ReadonlyMap<string, RolloutSummary>): {
  readonly namespaces: readonly string[]
  readonly counts: ReadonlyMap<FleetGroup, number>
} {
  const counts = new Map<FleetGroup, number>()
  for (const rollout of rollouts.values()) counts.set(groupOf(rollout), (counts.get(groupOf(rollout)) ?? 0) + 1)
  return { namespaces: [...new Set([...rollouts.values()].map(({ namespace }) => namespace))].sort(), counts }
}
