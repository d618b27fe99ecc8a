import type { Explanation } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { LongText } from './long-text.tsx'

/** The facts behind an explanation. */
export function FactTable({ facts }: Pick<Explanation, 'facts'>): ReactNode {
  return (
    <table className="plain fact-table">
      <caption className="visually-hidden">Facts behind the answer</caption>
      <tbody>
        {facts.map(({ name, value }) => (
          <tr key={`${name} ${value}`}>
            <th scope="row">{name}</th>
            <td>
              <LongText>{value}</LongText>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
