import { memo, type ReactNode } from 'react'
import { LongText } from '../../parts/long-text.tsx'
import { PlaceLink } from '../../parts/place-link.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Moment } from '../../parts/time.tsx'
import { useGrowingList } from '../../parts/use-growing-list.ts'
import { lookOfResult, type RecordEntry } from './record-entry.ts'

/** Properties of {@link RecordTable}. */
interface RecordTableProps {
  readonly entries: readonly RecordEntry[]
  /** Whether everything that was asked for has been read. */
  readonly isComplete: boolean
  readonly hasFilter: boolean
}

/** The entries of the record, newest first. */
export function RecordTable({ entries, isComplete, hasFilter }: RecordTableProps): ReactNode {
  const { shown, end } = useGrowingList(entries.length)
  if (entries.length === 0)
    return isComplete ? (
      <p className="page-note" role="status">
        {hasFilter ? 'Nothing in the record matches these filters.' : 'Nothing has been recorded yet. Actions and releases appear here.'}
      </p>
    ) : null
  return (
    <section aria-label="Entries">
      <table className="record-table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Rollout</th>
            <th scope="col">What</th>
            <th scope="col">Who</th>
            <th scope="col">Why</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {entries.slice(0, shown).map((entry) => (
            <EntryRow key={`${entry.namespace}/${entry.rollout} ${entry.kind} ${entry.id}`} entry={entry} />
          ))}
        </tbody>
      </table>
      {shown < entries.length ? (
        <p ref={end} key={shown} className="quiet">
          {entries.length - shown} more
        </p>
      ) : null}
    </section>
  )
}

const EntryRow = memo(function EntryRow({ entry }: { readonly entry: RecordEntry }): ReactNode {
  const { at, namespace, rollout, kind, what, who, why, result, detail } = entry
  const look = lookOfResult(result)
  return (
    <tr>
      <td data-label="Time">
        <Moment at={at} />
      </td>
      <th scope="row" data-label="Rollout">
        <PlaceLink to={{ view: 'rollout', key: { namespace, name: rollout } }}>
          <bdi>{rollout}</bdi>
        </PlaceLink>
        <span className="namespace">
          <bdi>{namespace}</bdi>
        </span>
      </th>
      <td data-label="What">
        <bdi>{what}</bdi>
      </td>
      <td data-label="Who">
        {who === '' ? <span className="quiet">{kind === 'release' ? '–' : 'unknown'}</span> : <bdi>{who}</bdi>}
        {kind === 'change' ? <span className="count"> program, not a user</span> : null}
      </td>
      <td data-label="Why">
        <LongText>{why === '' ? '–' : why}</LongText>
      </td>
      <td data-label="Result">
        {look === undefined ? <span className="quiet">–</span> : <StateBadge look={look} />}
        <LongText className="hint">{detail}</LongText>
      </td>
    </tr>
  )
})
