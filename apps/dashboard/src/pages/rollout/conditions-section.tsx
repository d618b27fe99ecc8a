import type { RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { Age } from '../../parts/time.tsx'

/** Conditions of the status, as `kubectl describe` shows them. */
export function ConditionsSection({ report }: { readonly report: RolloutReport }): ReactNode {
  const { conditions, message: statusMessage } = report
  return (
    <section aria-labelledby="conditions-title">
      <h2 id="conditions-title">Conditions</h2>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Type</th>
            <th scope="col">Status</th>
            <th scope="col">Reason</th>
            <th scope="col">Message</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {conditions.map(({ type, status, reason, message, since }) => (
            <tr key={type}>
              <th scope="row">{type}</th>
              <td>{status}</td>
              <td>{reason}</td>
              <td className="prose">
                {message === statusMessage && message !== '' ? <span className="quiet">as the status above</span> : message}
              </td>
              <td>
                <Age at={since} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
