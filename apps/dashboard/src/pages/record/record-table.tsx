import { memo, type ReactNode, type RefCallback } from 'react'
import { utcText } from '../../format/marked-moment.ts'
import { EntryTime } from '../../parts/entry-time.tsx'
import { LongText } from '../../parts/long-text.tsx'
import { PlaceLink } from '../../parts/place-link.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { useGrowingList } from '../../parts/use-growing-list.ts'
import { useScrollTo } from '../../parts/use-scroll-to.ts'
import { lookOfResult, type RecordEntry } from './record-entry.ts'

/** Properties of {@link RecordTable}. */
interface RecordTableProps {
  readonly entries: readonly RecordEntry[]
  /** Entries to mark. */
  readonly marked: readonly RecordEntry[]
  /** Time in the address of the page, whose first marked entry comes into view; undefined: the page stays where it is. */
  readonly scrollsTo: string | undefined
  /** Whether everything that was asked for has been read. */
  readonly isComplete: boolean
  readonly hasFilter: boolean
}

/** The entries of the record, newest first. */
export function RecordTable({ entries, marked, scrollsTo, isComplete, hasFilter }: RecordTableProps): ReactNode {
  const [first] = marked
  const last = marked.at(-1)
  const { shown, end } = useGrowingList(entries.length, { least: last === undefined ? 0 : entries.indexOf(last) + 1 })
  const scrolled = useScrollTo(first === undefined || scrollsTo === undefined ? null : scrollsTo)
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
            <EntryRow
              key={`${entry.namespace}/${entry.rollout} ${entry.kind} ${entry.id}`}
              entry={entry}
              isMarked={marked.includes(entry)}
              reference={entry === first ? scrolled : undefined}
            />
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

interface EntryRowProps {
  readonly entry: RecordEntry
  readonly isMarked: boolean
  readonly reference: RefCallback<HTMLElement> | undefined
}

const EntryRow = memo(function EntryRow({ entry, isMarked, reference }: EntryRowProps): ReactNode {
  const { at, namespace, rollout, kind, what, who, why, result, detail } = entry
  const look = lookOfResult(result)
  const utc = utcText(at)
  const address = utc === undefined ? undefined : ({ view: 'record', query: { rollout: `${namespace}/${rollout}`, at: utc } } as const)
  return (
    <tr
      ref={reference}
      className={isMarked ? 'marked' : undefined}
      aria-current={isMarked ? true : undefined}
      tabIndex={isMarked ? -1 : undefined}
    >
      <td data-label="Time">
        <span>
          {isMarked ? <span aria-hidden="true">▸ </span> : null}
          <EntryTime at={at} to={address} title={what} how="push" />
        </span>
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
