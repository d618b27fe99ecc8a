import type { ReactNode } from 'react'
import { timeSpanText } from '../format/duration.ts'
import { clockText, momentText } from '../format/moment.ts'
import { useNow } from './use-now.ts'

/** Properties of parts that show a moment. */
interface MomentProps {
  /** RFC 3339; undefined shows a dash. */
  readonly at: string | undefined
}

/** Time since a moment, `4m 05s`; the moment itself with its zone is the tooltip. */
export function Age({ at }: MomentProps): ReactNode {
  const nowMs = useNow()
  if (at === undefined) return <span className="quiet">–</span>
  return (
    <time dateTime={at} title={momentText(at)}>
      {timeSpanText(nowMs - Date.parse(at))}
    </time>
  )
}

/** Time until a moment, `4m 05s`, and its time of day; `due` once it has passed. */
export function Until({ at }: { readonly at: string }): ReactNode {
  const leftMs = Date.parse(at) - useNow()
  return (
    <time dateTime={at} title={momentText(at)}>
      {leftMs > 0 ? `${timeSpanText(leftMs)} (${clockText(at)})` : 'due'}
    </time>
  )
}

/** A moment as date and time in the zone of the browser. */
export function Moment({ at }: MomentProps): ReactNode {
  if (at === undefined) return <span className="quiet">–</span>
  return <time dateTime={at}>{momentText(at)}</time>
}
