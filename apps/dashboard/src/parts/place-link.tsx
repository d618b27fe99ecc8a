import type { MouseEvent, ReactNode } from 'react'
import { useMissing, usePorts } from '../ports/dashboard-ports.ts'
import type { Place } from '../ports/place.ts'

/** Properties of {@link PlaceLink}. */
interface PlaceLinkProps {
  readonly to: Place
  readonly className?: string
  /** @see DashboardPorts.go @default 'push' */
  readonly how?: 'push' | 'replace'
  readonly children: ReactNode
}

/**
 * A link to another view. A plain click changes the view in place; the browser handles all others, such as *open in a new tab*. Plain text
 * if the host lacks that view.
 */
export function PlaceLink({ to, className, how = 'push', children }: PlaceLinkProps): ReactNode {
  const { urlOf, go } = usePorts()
  const missing = useMissing()[to.view]
  const onClick = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    go(to, how)
  }
  if (missing !== undefined)
    return (
      <span className={className} title={missing}>
        {children}
      </span>
    )
  return (
    <a href={urlOf(to)} className={className} onClick={onClick}>
      {children}
    </a>
  )
}
