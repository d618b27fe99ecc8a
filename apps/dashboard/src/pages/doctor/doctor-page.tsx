import { useQuery } from '@tanstack/react-query'
import type { DoctorFinding, DoctorReport } from '@tranche/api-schema'
import { type ReactNode, useId } from 'react'
import { CopyButton } from '../../parts/copy-button.tsx'
import { LongText } from '../../parts/long-text.tsx'
import { PageMain } from '../../parts/page-main.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Age, Moment } from '../../parts/time.tsx'
import { usePorts } from '../../ports/dashboard-ports.ts'
import { checkTitles, type FindingGroup, groupFindings, resultText } from './finding-groups.ts'

/** Whether the cluster has what Tranche needs: findings by level with their fixes. */
export function DoctorPage(): ReactNode {
  const { api } = usePorts()
  // Renewed only on demand, because it is expensive for the API server.
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['doctor'],
    queryFn: ({ signal }) => api.doctor({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const check = (): void => void refetch()
  return (
    <PageMain className="doctor">
      <h1>Doctor</h1>
      <p className="hint">
        Checks the prerequisites of the cluster and suggests fixes, as <code>tranche doctor</code> does. It changes nothing, and reads only
        what you may read yourself.
      </p>
      {error === null || isFetching ? null : <ProblemNote error={error} retry={check} />}
      {data === undefined && isFetching ? <p role="status">Checking the cluster…</p> : null}
      {data === undefined ? null : <Findings report={data} isFetching={isFetching} onCheck={check} />}
    </PageMain>
  )
}

/** Properties of {@link Findings}. */
interface FindingsProps {
  readonly report: DoctorReport
  readonly isFetching: boolean
  readonly onCheck: () => void
}

function Findings({ report: { checkedAt, items }, isFetching, onCheck }: FindingsProps): ReactNode {
  return (
    <>
      <div className="verdict">
        <p role="status">
          <strong>{isFetching ? 'Checking the cluster…' : resultText(items)}</strong>
        </p>
        <p>
          Checked <Age at={checkedAt} /> ago{' '}
          <span className="quiet">
            (<Moment at={checkedAt} />)
          </span>
        </p>
        <button type="button" disabled={isFetching} onClick={onCheck}>
          Check again
        </button>
      </div>
      {groupFindings(items).map((group) => (
        <Level key={group.state} group={group} />
      ))}
    </>
  )
}

function Level({ group: { look, findings } }: { readonly group: FindingGroup }): ReactNode {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        <StateBadge look={look} /> <span className="count">{findings.length}</span>
      </h2>
      <ul className="findings">
        {findings.map((finding) => (
          <Finding key={`${finding.check} ${finding.message}`} finding={finding} />
        ))}
      </ul>
    </section>
  )
}

function Finding({ finding: { check, message, fix, command } }: { readonly finding: DoctorFinding }): ReactNode {
  return (
    <li>
      <h3>{checkTitles[check]}</h3>
      <div>
        <LongText>{message}</LongText>
        {fix === undefined ? null : <LongText className="fix">{fix}</LongText>}
        {command === undefined ? null : (
          <div className="copied">
            <pre className="command">
              <code>{command}</code>
            </pre>
            <CopyButton text={command} />
          </div>
        )}
      </div>
    </li>
  )
}
