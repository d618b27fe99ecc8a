import type { RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { Age, Until } from '../../parts/time.tsx'
import { lookOf } from '../../format/outcome-text.ts'

const remainingWords = {
  pause: 'The pause ends in',
  soak: 'The soak ends in',
  settling: 'The release ends in',
  batch: 'This batch is expected to end in',
}

/** Message of the Rollout's status, verbatim: the wait, its start, and the decision that it needs. */
export function StatusNote({ report }: { readonly report: RolloutReport }): ReactNode {
  const { message, need, notBound, remaining, lastAction } = report
  const since = need?.since ?? report.waitingFor?.since
  return (
    <section className={`status-note tone-${lookOf(report).tone}`} aria-label="Status">
      <p className="prose" role="status">
        {message === '' ? 'The controller has not written a status yet.' : message}
      </p>
      {need === undefined || need.message === message ? null : <p className="prose">{need.message}</p>}
      {since === undefined ? null : (
        <p className="hint">
          For <Age at={since} />
        </p>
      )}
      {remaining === undefined ? null : (
        <p>
          {remainingWords[remaining.of]} <Until at={remaining.until} />
        </p>
      )}
      {notBound === undefined ? null : <p className="prose">{notBound}</p>}
      {lastAction?.result === 'Refused' ? (
        <p className="tone-bad prose">
          The last action, {lastAction.type}
          {lastAction.by === undefined ? null : (
            <>
              {' '}
              by <bdi>{lastAction.by}</bdi>
            </>
          )}
          , was rejected: <bdi>{lastAction.reason}</bdi>
        </p>
      ) : null}
    </section>
  )
}
