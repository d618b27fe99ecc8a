import { ApiProblemError } from '@tranche/api-client'
import type { ActionBody } from '@tranche/api-schema'
import { AppError, type ErrorCode, isAppError } from '@tranche/errors'

const optionOf: Readonly<Record<Exclude<keyof ActionBody, 'reason'>, string>> = {
  expectedStep: '--expected-step',
  revision: '--revision',
  step: '--step',
  full: '--full',
  toRevision: '--to-revision',
}

type Member = keyof typeof optionOf

/**
 * Names the option of a rejected action: with its value if it was typed, and alone if the action is invalid without it. Reads the code and
 * the member of the error, never its text.
 *
 * @param said the body as typed, without preconditions that the command added
 * @returns the error with the option before its message
 */
export function inOptions(error: unknown, said: ActionBody): unknown {
  if (!isAppError(error)) return error
  const member = memberOf(error)
  const option = member === undefined ? null : optionText(member, said, error.code)
  if (option === null) return error
  return new AppError(error.code, `${option}: ${error.message}`, {
    details: error.details,
    ...(error.hint !== undefined && { hint: error.hint }),
    cause: error,
  })
}

function optionText(member: Member, said: ActionBody, code: ErrorCode): string | null {
  if (said[member] !== undefined) return `${optionOf[member]} ${said[member]}`
  return code === 'ACTION_INVALID' ? optionOf[member] : null
}

/** The release client of a cluster reports the name of the member, the REST API its path in the body. */
function memberOf(error: AppError): Member | undefined {
  const { path = problemPath(error) } = error.details
  return Object.keys(optionOf).find((member): member is Member => member === path)
}

function problemPath(error: AppError): string | undefined {
  return error instanceof ApiProblemError ? error.problem?.problems?.[0]?.path.replace(/^body\./, '') : undefined
}
