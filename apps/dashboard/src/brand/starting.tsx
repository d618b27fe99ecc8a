import type { ReactNode } from 'react'
import { Brand } from './brand.tsx'

/** The page before the session is known; index.html has the same, so that it is there before any script. */
export function Starting(): ReactNode {
  return (
    <div className="starting">
      <header className="top">
        <span className="brand">
          <Brand />
        </span>
      </header>
      <p className="page-note" role="status">
        Loading…
      </p>
    </div>
  )
}
