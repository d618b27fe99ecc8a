import type { RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { timeSpanText } from '../../../format/duration.ts'
import { clockText } from '../../../format/moment.ts'
import { useNow } from '../../../parts/use-now.ts'
import { soakProgress } from './soak-progress.ts'

/** Time until the soak of a step or of the release ends, large, with the part that has passed. */
export function SoakCountdown({ report }: { readonly report: RolloutReport }): ReactNode {
  const nowMs = useNow()
  const soak = soakProgress(report, nowMs)
  if (soak === undefined) return null
  const { title, until, leftMs, passed } = soak
  return (
    <div className="soak">
      <p>
        {title}: <strong className="soak-left">{leftMs > 0 ? timeSpanText(leftMs) : 'due'}</strong>{' '}
        <span className="quiet">ends at {clockText(until)}</span>
      </p>
      {passed === undefined ? null : <progress value={passed} max={1} aria-label="Part of the soak that has passed" />}
      <p className="hint">The updated nodes must stay available until then; otherwise the soak starts over.</p>
    </div>
  )
}
