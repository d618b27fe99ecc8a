import { type ReactNode, useState } from 'react'
import { timeSpanText } from '../../format/duration.ts'
import { useNow } from '../../parts/use-now.ts'
import { usePorts } from '../../ports/dashboard-ports.ts'

/** A forecast that runs: for how long, and a way to cancel it. */
export function PlanProgress({ onCancel }: { readonly onCancel: () => void }): ReactNode {
  const { nowMs } = usePorts()
  const [startedMs] = useState(nowMs)
  const elapsed = timeSpanText(useNow() - startedMs)
  return (
    <div className="plan-progress">
      <p role="status">Simulating the release… A large cluster takes up to a minute.</p>
      <p>
        <progress aria-label="Forecast is being computed" /> <span className="quiet">{elapsed}</span>{' '}
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </div>
  )
}
