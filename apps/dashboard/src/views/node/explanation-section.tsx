import type { UseQueryResult } from '@tanstack/react-query'
import type { Explanation } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { ProblemNote } from '../../parts/problem-note.tsx'

/** Properties of {@link ExplanationSection}. */
interface ExplanationSectionProps {
  /** Null data: the server knows no such node. */
  readonly explained: UseQueryResult<Explanation | null>
}

/** Why a node is in its state: the answer, the deciding rule and the facts behind it. */
export function ExplanationSection({ explained: { data, error, refetch } }: ExplanationSectionProps): ReactNode {
  return (
    <section aria-labelledby="why-title">
      <h2 id="why-title">Why</h2>
      {error === null ? null : <ProblemNote error={error} retry={() => void refetch()} />}
      {data === undefined && error === null ? <p role="status">Reading the explanation…</p> : null}
      {data === null ? <p className="quiet">There is nothing to explain.</p> : null}
      {data === undefined || data === null ? null : <Answer explanation={data} />}
    </section>
  )
}

function Answer({ explanation: { answer, rule, facts } }: { readonly explanation: Explanation }): ReactNode {
  return (
    <>
      <p className="prose answer">{answer}</p>
      <p className="hint">
        Deciding rule: <strong>{rule}</strong>
      </p>
      <table className="plain fact-table">
        <caption className="visually-hidden">Facts behind the answer</caption>
        <tbody>
          {facts.map(({ name, value }) => (
            <tr key={`${name} ${value}`}>
              <th scope="row">{name}</th>
              <td>
                <span className="prose">{value}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}
