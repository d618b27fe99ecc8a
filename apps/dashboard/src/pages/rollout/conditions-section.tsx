import type { RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { Age } from '../../parts/time.tsx'

/** Conditions of the status, as `kubectl describe` shows them. */
export function ConditionsSection({ report }: { readonly report: RolloutReport }): ReactNode {
  const { conditions, message: statusMessage } = report
  return (
    <section aria-labelledby="conditions-title">
      <h2 id="conditions-title">Conditions</h2>
      <table className="plain conditions">
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
              <td data-label="Status">{status}</td>
              <td data-label="Reason">{reason}</td>
              <td data-label="Message" className="prose">
                {message === statusMessage && message !== '' ? <span className="quiet">as the status above</span> : message}
              </td>
              <td data-label="Since">
                <Age at={since} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
