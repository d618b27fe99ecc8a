import type { RolloutSummary } from '@tranche/api-schema'
import { type ReactNode, useId } from 'react'
import { fieldValueOf, momentOfField, type RecordFilter, type RecordSpan, recordSpans, recordTypes } from './record-filter.ts'

/** Properties of {@link RecordFilters}. */
interface RecordFiltersProps {
  readonly filter: RecordFilter
  readonly rollouts: ReadonlyMap<string, RolloutSummary>
  readonly onChange: (filter: RecordFilter) => void
}

const spanWords: Readonly<Record<RecordSpan, string>> = {
  any: 'any time',
  '1h': 'last hour',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  between: 'between…',
}
/** Suggestions that a browser still shows quickly. */
const MOST_SUGGESTIONS = 200

/** Filters of the record. They are in the URL, so that a link leads to the same list. */
export function RecordFilters({ filter, rollouts, onChange }: RecordFiltersProps): ReactNode {
  const id = useId()
  return (
    <search className="filters">
      <label>
        Rollout{' '}
        <input
          type="search"
          list={id}
          placeholder="namespace/name"
          value={filter.rollout}
          onChange={(event) => onChange({ ...filter, rollout: event.target.value })}
        />
      </label>
      <datalist id={id}>
        {[...rollouts.keys()].slice(0, MOST_SUGGESTIONS).map((text) => (
          <option key={text} value={text} />
        ))}
      </datalist>
      <label>
        User{' '}
        <input
          type="search"
          placeholder="user or program"
          value={filter.user}
          onChange={(event) => onChange({ ...filter, user: event.target.value })}
        />
      </label>
      <label>
        Action{' '}
        <select value={filter.type} onChange={(event) => onChange({ ...filter, type: event.target.value })}>
          <option value="">all</option>
          {recordTypes.map((type) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      </label>
      <label>
        Time{' '}
        <select
          value={filter.span}
          onChange={(event) => onChange({ ...filter, span: recordSpans.find((span) => span === event.target.value) ?? 'any' })}
        >
          {recordSpans.map((span) => (
            <option key={span} value={span}>
              {spanWords[span]}
            </option>
          ))}
        </select>
      </label>
      {filter.span === 'between' ? <Bounds filter={filter} onChange={onChange} /> : null}
    </search>
  )
}

function Bounds({ filter, onChange }: Pick<RecordFiltersProps, 'filter' | 'onChange'>): ReactNode {
  return (
    <>
      <label>
        From{' '}
        <input
          type="datetime-local"
          value={fieldValueOf(filter.from)}
          onChange={(event) => onChange({ ...filter, from: momentOfField(event.target.value) })}
        />
      </label>
      <label>
        To{' '}
        <input
          type="datetime-local"
          value={fieldValueOf(filter.to)}
          onChange={(event) => onChange({ ...filter, to: momentOfField(event.target.value) })}
        />
      </label>
    </>
  )
}
