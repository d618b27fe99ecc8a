import { ApiProblemError } from '@tranche/api-client'
import { isAppError } from '@tranche/errors'
import type { ReactNode } from 'react'

/** Properties of {@link ProblemNote}. */
interface ProblemNoteProps {
  readonly error: unknown
  /** Repeats the failed request. */
  readonly retry?: (() => void) | undefined
}

/** An error with what is known about it: the problem, its fix, and the request id to look for in the log of the API. */
export function ProblemNote({ error, retry }: ProblemNoteProps): ReactNode {
  const problem = error instanceof ApiProblemError ? error.problem : undefined
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{titleOf(error)}</strong>
      </p>
      <p className="prose">{error instanceof Error ? error.message : String(error)}</p>
      {problem?.problems?.map(({ path, fix }) => (
        <p key={path}>
          <code>{path}</code>: {fix}
        </p>
      ))}
      {isAppError(error) && error.hint !== undefined ? <p>{error.hint}</p> : null}
      {problem?.instance === undefined ? null : (
        <p className="hint">
          Request <code>{problem.instance}</code>
        </p>
      )}
      {retry === undefined ? null : (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

function titleOf(error: unknown): string {
  if (!isAppError(error)) return 'Something went wrong'
  switch (error.code) {
    case 'API_UNREACHABLE':
    case 'API_DEADLINE':
      return 'The Tranche API does not answer'
    case 'ACCESS_DENIED':
      return 'You are not allowed to see this'
    case 'ROLLOUT_NOT_FOUND':
      return 'This Rollout does not exist'
    default:
      return error instanceof ApiProblemError && error.problem !== undefined ? error.problem.title : error.code
  }
}
