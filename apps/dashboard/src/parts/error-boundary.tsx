import { Component, type ErrorInfo, type ReactNode } from 'react'
import { PageMain } from './page-main.tsx'
import { ProblemNote } from './problem-note.tsx'

/** Properties of {@link ErrorBoundary}. */
interface ErrorBoundaryProps {
  /** Another value shows the children again. */
  readonly of: string
  /** Called once the failure is on the screen. */
  readonly onFailure: () => void
  /** How the note about the failure is shown. @default as a page of its own */
  readonly show?: (note: ReactNode) => ReactNode
  readonly children: ReactNode
}

interface ErrorBoundaryState {
  readonly of: string
  readonly error: unknown
}

/** Shows what went wrong in its children in place of them: the rest of the page stays usable. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = { of: this.props.of, error: null }

  static getDerivedStateFromError(error: unknown): Partial<ErrorBoundaryState> {
    return { error }
  }

  static getDerivedStateFromProps({ of }: ErrorBoundaryProps, state: ErrorBoundaryState): ErrorBoundaryState | null {
    return of === state.of ? null : { of, error: null }
  }

  override componentDidCatch(error: Error, { componentStack }: ErrorInfo): void {
    console.error('a view failed', error, componentStack)
    this.props.onFailure()
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    const { show = asPage } = this.props
    return show(<ProblemNote error={error} retry={() => this.setState({ error: null })} />)
  }
}

function asPage(note: ReactNode): ReactNode {
  return (
    <PageMain>
      <h1>This view failed</h1>
      {note}
    </PageMain>
  )
}
