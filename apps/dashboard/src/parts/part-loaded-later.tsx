import { type ComponentType, type ReactNode, Suspense, useSyncExternalStore } from 'react'
import { usePorts } from '../ports/dashboard-ports.ts'
import { ErrorBoundary } from './error-boundary.tsx'
import { loadedLater, loadFailedAgain } from './loaded-later.tsx'

/**
 * A part of a view whose file is loaded when it is first shown. If that fails, the view around it stays usable, with its open dialogs. The
 * file is loaded again when the user asks for it, and each time the stream is lost or live again.
 *
 * @param load imports the file
 * @param waiting shown until then: `Loading the chart…`
 */
export function partLoadedLater<P extends object>(load: () => Promise<ComponentType<P>>, waiting: string): ComponentType<P> {
  const Part = loadedLater(load)
  return function PartLoadedLater(props: P): ReactNode {
    const { releases } = usePorts()
    const live = useSyncExternalStore(releases.subscribe, () => releases.snapshot().live.kind)
    return (
      <ErrorBoundary of={live} onFailure={loadFailedAgain} show={(note) => note}>
        <Suspense fallback={<p role="status">{waiting}</p>}>
          <Part {...props} />
        </Suspense>
      </ErrorBoundary>
    )
  }
}
