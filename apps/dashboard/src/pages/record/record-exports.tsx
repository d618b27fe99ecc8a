import type { ReactNode } from 'react'
import { DownloadButton } from '../../parts/download-button.tsx'
import { usePorts } from '../../ports/dashboard-ports.ts'
import type { Coverage } from './coverage.ts'
import type { RecordEntry } from './record-entry.ts'
import { csvOf, fileNameOf, jsonOf, type RecordScope } from './record-export.ts'

/** Properties of {@link RecordExports}. */
interface RecordExportsProps {
  readonly entries: readonly RecordEntry[]
  /** Query of the filter. */
  readonly filter: Readonly<Record<string, string>>
  readonly coverage: Coverage
}

/** Saves the entries on the screen as a file. */
export function RecordExports({ entries, filter, coverage }: RecordExportsProps): ReactNode {
  const { nowMs } = usePorts()
  const scope = (): RecordScope => ({
    exportedAt: new Date(nowMs()).toISOString(),
    filter,
    rolloutsRead: coverage.read.length,
    rolloutsNotRead: coverage.notRead.length + coverage.failed.length,
  })
  const isDisabled = entries.length === 0
  return (
    <p className="exports">
      {entries.length} {entries.length === 1 ? 'entry' : 'entries'}{' '}
      <DownloadButton
        fileName={() => fileNameOf(nowMs(), 'csv')}
        type="text/csv;charset=utf-8"
        content={() => csvOf(entries)}
        isDisabled={isDisabled}
      >
        Save as CSV
      </DownloadButton>{' '}
      <DownloadButton
        fileName={() => fileNameOf(nowMs(), 'json')}
        type="application/json"
        content={() => jsonOf(entries, scope())}
        isDisabled={isDisabled}
      >
        Save as JSON
      </DownloadButton>
    </p>
  )
}
