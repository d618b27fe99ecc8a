import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import type { HistoryReport } from '@tranche/api-schema'
import { type ReactNode, type RefCallback, useMemo, useState } from 'react'
import { markedMomentOf, markText, nearestEntries, utcText } from '../../../format/marked-moment.ts'
import { textOfKey } from '../../../live/release-store.ts'
import { EntryTime } from '../../../parts/entry-time.tsx'
import { MarkNote } from '../../../parts/mark-note.tsx'
import { PlaceLink } from '../../../parts/place-link.tsx'
import { ProblemNote } from '../../../parts/problem-note.tsx'
import { StateBadge } from '../../../parts/state-badge.tsx'
import { useScrollTo } from '../../../parts/use-scroll-to.ts'
import { useMissing, usePorts } from '../../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../../ports/renew-when-changed.ts'
import { type TimelineEntry, historyTimeline } from './timeline.ts'

/** Entries that are shown at first. */
const FIRST_ENTRIES = 12

/** Reads the history of a Rollout, and again when it changes. */
export function useHistory(key: ApiKey): UseQueryResult<HistoryReport> {
  const { api } = usePorts()
  return useQuery({ queryKey: [...queryKeyOf(key), 'history'], queryFn: ({ signal }) => api.history(key, { signal }) })
}

/** Properties of {@link HistorySection}. */
interface HistorySectionProps {
  readonly rollout: ApiKey
  /** Query of the page; its `at` is the time of the entry to mark. */
  readonly query: Readonly<Record<string, string>>
}

/** Releases with their results, actions, direct changes and blocked revisions, newest first. */
export function HistorySection({ rollout, query }: HistorySectionProps): ReactNode {
  const { data, error, refetch } = useHistory(rollout)
  const { go } = usePorts()
  const entries = useMemo(() => (data === undefined ? undefined : historyTimeline(data)), [data])
  const { at, ...others } = query
  const moment = useMemo(() => markedMomentOf(at), [at])
  const marked = useMemo(() => nearestEntries(entries ?? [], moment), [entries, moment])
  return (
    <section aria-labelledby="history-title" className="history">
      <h2 id="history-title">History</h2>
      {error === null ? null : <ProblemNote error={error} retry={() => void refetch()} />}
      {entries === undefined && error === null ? <p role="status">Reading the history…</p> : null}
      {entries?.length === 0 ? <p className="quiet">No release yet: apply a new pod template to the DaemonSet to begin one.</p> : null}
      <MarkNote
        text={entries === undefined ? '' : markText(moment, marked)}
        onClear={() => go({ view: 'rollout', key: rollout, query: others }, 'replace')}
      />
      {entries === undefined ? null : <Timeline rollout={rollout} entries={entries} marked={marked} at={at} />}
      <Reach rollout={rollout} />
    </section>
  )
}

interface TimelineProps {
  readonly rollout: ApiKey
  readonly entries: readonly TimelineEntry[]
  readonly marked: readonly TimelineEntry[]
  /** Time in the address of the page. */
  readonly at: string | undefined
}

function Timeline({ rollout, entries, marked: [first, ...others], at }: TimelineProps): ReactNode {
  const [isWhole, setWhole] = useState(false)
  const scrolled = useScrollTo(first === undefined || at === undefined ? null : at)
  const least = first === undefined ? FIRST_ENTRIES : Math.max(FIRST_ENTRIES, entries.indexOf(others.at(-1) ?? first) + 1)
  const shown = isWhole ? entries : entries.slice(0, least)
  return (
    <>
      <ol className="timeline">
        {shown.map((entry) => (
          <Entry
            key={entry.id}
            rollout={rollout}
            entry={entry}
            isMarked={entry === first || others.includes(entry)}
            reference={entry === first ? scrolled : undefined}
          />
        ))}
      </ol>
      {entries.length > least ? (
        <button type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show only the latest' : `Show all ${entries.length}`}
        </button>
      ) : null}
    </>
  )
}

/** How far back the history goes. */
function Reach({ rollout }: { readonly rollout: ApiKey }): ReactNode {
  const missing = useMissing()
  return (
    <p className="hint">
      The cluster keeps the last ten releases and the last sixteen actions.
      {missing.record === undefined ? (
        <>
          {' '}
          The <PlaceLink to={{ view: 'record', query: { rollout: textOfKey(rollout) } }}>record of this Rollout</PlaceLink> can be exported.
        </>
      ) : null}
    </p>
  )
}

interface EntryProps {
  readonly rollout: ApiKey
  readonly entry: TimelineEntry
  readonly isMarked: boolean
  readonly reference: RefCallback<HTMLElement> | undefined
}

function Entry({ rollout, entry: { at, title, look, who, why, detail }, isMarked, reference }: EntryProps): ReactNode {
  const utc = utcText(at)
  return (
    <li
      ref={reference}
      className={isMarked ? 'marked' : undefined}
      aria-current={isMarked ? true : undefined}
      tabIndex={isMarked ? -1 : undefined}
    >
      <span className="quiet timeline-time">
        {at === undefined ? (
          'time unknown'
        ) : (
          <EntryTime at={at} to={utc === undefined ? undefined : { view: 'rollout', key: rollout, query: { at: utc } }} title={title} />
        )}
      </span>
      <div className="timeline-event">
        <span>
          {isMarked ? <span aria-hidden="true">▸ </span> : null}
          <strong className="timeline-title">
            <bdi>{title}</bdi>
          </strong>{' '}
          {look === undefined ? null : <StateBadge look={look} />}
        </span>
        {who === undefined ? null : (
          <span>
            by <bdi className="timeline-title">{who}</bdi>
          </span>
        )}
        {why === undefined ? null : <span className="prose">{why}</span>}
        {detail === undefined ? null : <span className="prose hint">{detail}</span>}
      </div>
    </li>
  )
}
