import type { UseQueryResult } from '@tanstack/react-query'
import type { Explanation } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { FactTable } from '../../parts/fact-table.tsx'
import { LongText } from '../../parts/long-text.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'

/** Properties of {@link ExplanationSection}. */
interface ExplanationSectionProps {
  readonly explained: Pick<UseQueryResult, 'error' | 'refetch'>
  /** Undefined until it has arrived. */
  readonly explanation: Explanation | undefined
}

/** Why a node is in its state: the answer, the deciding rule and the facts behind it. */
export function ExplanationSection({ explained: { error, refetch }, explanation }: ExplanationSectionProps): ReactNode {
  return (
    <section aria-labelledby="why-title">
      <h2 id="why-title">Why</h2>
      {error === null ? null : <ProblemNote error={error} retry={() => void refetch()} />}
      {explanation === undefined && error === null ? <p role="status">Reading the explanation…</p> : null}
      {explanation === undefined ? null : <Answer explanation={explanation} />}
    </section>
  )
}

function Answer({ explanation: { answer, rule, facts } }: { readonly explanation: Explanation }): ReactNode {
  return (
    <>
      <LongText className="answer">{answer}</LongText>
      <p className="hint">
        Deciding rule: <strong>{rule}</strong>
      </p>
      <FactTable facts={facts} />
    </>
  )
}
