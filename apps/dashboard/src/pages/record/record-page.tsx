import type { ApiKey } from '@tranche/api-client'
import { RECORDED_ACTIONS_MAX } from '@tranche/api-schema'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { markedMomentOf, markText, nearestEntries } from '../../format/marked-moment.ts'
import { MarkNote } from '../../parts/mark-note.tsx'
import { PageMain } from '../../parts/page-main.tsx'
import { useFleet } from '../../ports/use-fleet.ts'
import { textOfKey } from '../../live/release-store.ts'
import { usePorts } from '../../ports/dashboard-ports.ts'
import { coverageOf } from './coverage.ts'
import { readingOrder } from './reading-order.ts'
import { RecordCoverage } from './record-coverage.tsx'
import { RecordExports } from './record-exports.tsx'
import { RecordFilters } from './record-filters.tsx'
import { filterRecord, type RecordFilter, recordFilterOf, recordQueryOf } from './record-filter.ts'
import { RecordTable } from './record-table.tsx'
import { useRecord } from './use-record.ts'

/** Properties of {@link RecordPage}. */
interface RecordPageProps {
  readonly query: Readonly<Record<string, string>>
}

/** Rollouts that are read without asking: those that changed last. */
const FIRST_READS = 50

/** Who did what: actions, changes written directly, and releases with their results. */
export function RecordPage({ query }: RecordPageProps): ReactNode {
  const { rollouts, isComplete } = useFleet()
  const { go, nowMs } = usePorts()
  const [limit, setLimit] = useState(FIRST_READS)
  const filter = useMemo(() => recordFilterOf(query), [query])
  const rolloutText = useDeferredValue(filter.rollout)
  const matching = useMemo(() => (isComplete ? readingOrder(rollouts, rolloutText) : []), [rollouts, isComplete, rolloutText])
  const record = useRecord(useMemo(() => matching.slice(0, limit), [matching, limit]))
  const histories = useDeferredValue(record.histories)
  const entries = useMemo(() => filterRecord(entriesIn(histories, matching), filter, nowMs()), [histories, matching, filter, nowMs])
  const change = (next: RecordFilter): void => go({ view: 'record', query: recordQueryOf(next) }, 'replace')
  const moment = useMemo(() => markedMomentOf(query['at']), [query])
  const marked = useMemo(() => nearestEntries(entries, moment), [entries, moment])
  const coverage = useMemo(() => coverageOf(matching, record.histories, rollouts), [matching, record.histories, rollouts])
  const unasked = Math.max(0, matching.length - limit)
  // The entries on the screen may be older than what has been read.
  const isShown = histories === record.histories && coverage.notRead.length <= unasked
  const isWhole = isComplete && record.pending === 0 && isShown
  return (
    <PageMain className="record">
      <h1>Record</h1>
      <p className="hint">
        Of each Rollout the cluster keeps the last {RECORDED_ACTIONS_MAX} actions, as many changes that were written directly, and the last
        ten releases.
      </p>
      <RecordFilters filter={filter} rollouts={rollouts} onChange={change} />
      {isComplete ? (
        <RecordCoverage
          coverage={coverage}
          pending={record.pending}
          unasked={unasked}
          onMore={() => setLimit(matching.length)}
          onAgain={record.reader.again}
        />
      ) : (
        <p role="status">Reading rollouts…</p>
      )}
      <RecordExports entries={entries} filter={recordQueryOf(filter)} coverage={coverage} />
      <MarkNote text={isWhole ? markText(moment, marked) : ''} onClear={() => change(filter)} />
      <RecordTable
        entries={entries}
        marked={marked}
        scrollsTo={isWhole ? query['at'] : undefined}
        isComplete={isWhole}
        hasFilter={Object.keys(recordQueryOf(filter)).length > 0}
      />
    </PageMain>
  )
}

function entriesIn(histories: ReturnType<typeof useRecord>['histories'], keys: readonly ApiKey[]) {
  return keys.flatMap((key) => histories.get(textOfKey(key))?.entries ?? [])
}
