import { type ReactNode, useContext } from 'react'
import { PortsContext } from '../ports/dashboard-ports.ts'

/** Properties of {@link PageMain}. */
interface PageMainProps {
  readonly className?: string
  readonly children: ReactNode
}

/** Content of a page: the main landmark, or a plain element inside a host that has its own. */
export function PageMain({ className, children }: PageMainProps): ReactNode {
  const isEmbedded = useContext(PortsContext)?.missing !== undefined
  if (isEmbedded) return <div className={`page-main ${className ?? ''}`}>{children}</div>
  return (
    <main id="main" className={className}>
      {children}
    </main>
  )
}
