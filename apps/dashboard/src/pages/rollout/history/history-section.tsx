import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import type { HistoryReport } from '@tranche/api-schema'
import { type ReactNode, useMemo, useState } from 'react'
import { textOfKey } from '../../../live/release-store.ts'
import { PlaceLink } from '../../../parts/place-link.tsx'
import { ProblemNote } from '../../../parts/problem-note.tsx'
import { StateBadge } from '../../../parts/state-badge.tsx'
import { Moment } from '../../../parts/time.tsx'
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

/** Releases with their results, actions, direct changes and blocked revisions, newest first. */
export function HistorySection({ rollout }: { readonly rollout: ApiKey }): ReactNode {
  const { data, error, refetch } = useHistory(rollout)
  const [isWhole, setWhole] = useState(false)
  const missing = useMissing()
  const entries = useMemo(() => (data === undefined ? undefined : historyTimeline(data)), [data])
  const shown = isWhole ? entries : entries?.slice(0, FIRST_ENTRIES)
  return (
    <section aria-labelledby="history-title" className="history">
      <h2 id="history-title">History</h2>
      {error === null ? null : <ProblemNote error={error} retry={() => void refetch()} />}
      {entries === undefined && error === null ? <p role="status">Reading the history…</p> : null}
      {entries?.length === 0 ? <p className="quiet">No release yet: apply a new pod template to the DaemonSet to begin one.</p> : null}
      <ol className="timeline">
        {shown?.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ol>
      {entries !== undefined && entries.length > FIRST_ENTRIES ? (
        <button type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show only the latest' : `Show all ${entries.length}`}
        </button>
      ) : null}
      <p className="hint">
        The cluster keeps the last ten releases and the last sixteen actions.
        {missing.record === undefined ? (
          <>
            {' '}
            The <PlaceLink to={{ view: 'record', query: { rollout: textOfKey(rollout) } }}>record of this Rollout</PlaceLink> can be
            exported.
          </>
        ) : null}
      </p>
    </section>
  )
}

function Entry({ entry: { at, title, look, who, why, detail } }: { readonly entry: TimelineEntry }): ReactNode {
  return (
    <li>
      <span className="quiet timeline-time">{at === undefined ? 'time unknown' : <Moment at={at} />}</span>
      <div className="timeline-event">
        <span>
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
