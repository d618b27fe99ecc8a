import type { ReactNode } from 'react'
import { clockText } from '../format/moment.ts'
import { timeSpanText } from '../format/duration.ts'
import { useLiveState } from '../ports/use-fleet.ts'
import { useNow } from '../parts/use-now.ts'

/** Whether the page is live; if not, since when its data are stale, and why. */
export function LiveNote(): ReactNode {
  const live = useLiveState()
  const nowMs = useNow()
  switch (live.kind) {
    case 'connecting':
      return (
        <span className="live tone-quiet" role="status">
          Connecting…
        </span>
      )
    case 'live':
      return (
        <span className="live tone-good" role="status" title="Changes appear as they happen">
          <span aria-hidden="true">●</span> Live
        </span>
      )
    case 'reconnecting':
    case 'ended':
      return (
        <span className="live tone-bad" role="status" title={live.why}>
          <span aria-hidden="true">○</span> {live.kind === 'ended' ? 'Not live' : 'Reconnecting'}: data of{' '}
          {clockText(new Date(live.staleSinceMs).toISOString())}, {timeSpanText(nowMs - live.staleSinceMs)} old
        </span>
      )
  }
}
