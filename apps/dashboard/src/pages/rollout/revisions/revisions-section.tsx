import { useQuery } from '@tanstack/react-query'
import type { RevisionReport, RolloutReport } from '@tranche/api-schema'
import { type ReactNode, useState } from 'react'
import { imageVersion } from '../../../format/image-change.ts'
import { ProblemNote } from '../../../parts/problem-note.tsx'
import { usePorts } from '../../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../../ports/renew-when-changed.ts'
import { defaultPair, type RevisionPair } from './default-pair.ts'
import { RevisionChanges } from './revision-changes.tsx'
import { RevisionList } from './revision-list.tsx'

/** The revisions of the DaemonSet, and what differs between two of them. */
export function RevisionsSection({ report }: { readonly report: RolloutReport }): ReactNode {
  const { api } = usePorts()
  const key = { namespace: report.namespace, name: report.name }
  const {
    data: revisions,
    error,
    refetch,
  } = useQuery({
    queryKey: [...queryKeyOf(key), 'revisions'],
    queryFn: ({ signal }) => api.revisions(key, { signal }),
  })
  return (
    <section aria-labelledby="revisions-title" className="revisions-section">
      <h2 id="revisions-title">Revisions and changes</h2>
      {error === null ? null : <ProblemNote error={error} retry={() => void refetch()} />}
      {revisions === undefined ? (
        error === null ? (
          <p role="status">Reading revisions…</p>
        ) : null
      ) : (
        <Comparison report={report} revisions={revisions} />
      )}
      {revisions === undefined || revisions.length === 0 ? null : <RevisionList revisions={revisions} />}
    </section>
  )
}

interface ComparisonProps {
  readonly report: RolloutReport
  readonly revisions: readonly RevisionReport[]
}

function Comparison({ report, revisions }: ComparisonProps): ReactNode {
  const [chosen, setChosen] = useState<Partial<RevisionPair>>({})
  const standard = defaultPair(revisions)
  if (standard === undefined)
    return (
      <p className="quiet">
        {revisions.length === 0 ? 'The DaemonSet has no revision yet.' : 'There is one revision: nothing to compare.'}
      </p>
    )
  const revisionOf = (end: keyof RevisionPair): RevisionReport =>
    revisions.find(({ revision }) => revision === chosen[end]) ?? revisions.find(({ revision }) => revision === standard[end])!
  const from = revisionOf('from')
  const to = revisionOf('to')
  return (
    <>
      <p className="compared">
        <RevisionSelect label="From" value={from} revisions={revisions} onChange={(revision) => setChosen({ ...chosen, from: revision })} />{' '}
        <RevisionSelect label="to" value={to} revisions={revisions} onChange={(revision) => setChosen({ ...chosen, to: revision })} />
      </p>
      {from.revision === to.revision ? (
        <p className="quiet">Choose two different revisions to compare them.</p>
      ) : (
        <RevisionChanges report={report} from={from} to={to} />
      )}
    </>
  )
}

interface RevisionSelectProps {
  readonly label: string
  readonly value: RevisionReport
  readonly revisions: readonly RevisionReport[]
  readonly onChange: (revision: string) => void
}

function RevisionSelect({ label, value, revisions, onChange }: RevisionSelectProps): ReactNode {
  return (
    <label>
      {label}{' '}
      <select value={value.revision} onChange={(event) => onChange(event.target.value)}>
        {revisions.map(({ revision, number, images, role }) => (
          <option key={revision} value={revision}>
            {number}: {images.map(imageVersion).join(', ')}
            {role === 'none' ? '' : ` (${role})`}
          </option>
        ))}
      </select>
    </label>
  )
}
