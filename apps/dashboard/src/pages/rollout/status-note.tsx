import type { Explanation, RolloutReport } from '@tranche/api-schema'
import { type ReactNode, useState } from 'react'
import { FactTable } from '../../parts/fact-table.tsx'
import { PlaceLink } from '../../parts/place-link.tsx'
import { Age, Until } from '../../parts/time.tsx'
import { lookOf } from '../../format/outcome-text.ts'
import { nextBesideStatus } from './next-beside-status.ts'

const remainingWords = {
  pause: 'The pause ends in',
  soak: 'The soak ends in',
  settling: 'The release ends in',
  batch: 'This batch is expected to end in',
}

/** Properties of {@link StatusNote}. */
interface StatusNoteProps {
  readonly report: RolloutReport
  /** Undefined until it has arrived. */
  readonly explanation?: Explanation | undefined
}

/**
 * Message of the Rollout's status, verbatim: the wait, its start, and the decision that it needs. From the explanation: what would change
 * that, and the facts.
 */
export function StatusNote({ report, explanation }: StatusNoteProps): ReactNode {
  const next = nextBesideStatus(report, explanation)
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
      {next === undefined ? null : (
        <p className="prose">
          <span className="hint">What would change this:</span> {next}
        </p>
      )}
      <PolicyNote report={report} />
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
      {explanation === undefined || explanation.facts.length === 0 ? null : (
        <Facts explanation={explanation} shown={report.policyState?.message} />
      )}
    </section>
  )
}

/** Properties of {@link Facts}. */
interface FactsProps {
  readonly explanation: Explanation
  /** Text of a fact that stands above. */
  readonly shown: string | undefined
}

/** The deciding rule, and on request the facts behind it. */
function Facts({ explanation: { rule, facts }, shown }: FactsProps): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Deciding rule: <strong>{rule}</strong>
      </summary>
      {isOpen ? <FactTable facts={facts.filter(({ value }) => value !== shown)} /> : null}
    </details>
  )
}

/** Why the policy is not in force, in full or in part, unless the status says so. */
function PolicyNote({ report: { namespace, name, policyState, message, need } }: { readonly report: RolloutReport }): ReactNode {
  const text = policyState?.message
  if (text === undefined || message.startsWith(text) || need?.message.startsWith(text) === true) return null
  return (
    <p className="tone-wait prose">
      <PlaceLink to={{ view: 'policy', key: { namespace, name } }}>Policy</PlaceLink>: {text}
    </p>
  )
}
