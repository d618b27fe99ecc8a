import { ApiProblemError } from '@tranche/api-client'
import type { ActionBody } from '@tranche/api-schema'
import { AppError, isAppError } from '@tranche/errors'

const optionOf: Readonly<Record<Exclude<keyof ActionBody, 'reason'>, string>> = {
  expectedStep: '--expected-step',
  revision: '--revision',
  step: '--step',
  full: '--full',
  toRevision: '--to-revision',
}

type Member = keyof typeof optionOf

/** Members whose names are not also ordinary words, so that they can be replaced in messages. */
const unmistakable: readonly Member[] = ['expectedStep', 'toRevision']

/**
 * @param said the body as typed, without preconditions that the command added
 * @returns the rejection of an action with option names instead of body members, and with the option and value if they were typed
 */
export function inOptions(error: unknown, said: ActionBody): unknown {
  if (!isAppError(error)) return error
  const member = memberOf(error)
  const value = member === undefined ? undefined : said[member]
  const typed = member === undefined || value === undefined ? '' : `${optionOf[member]} ${value}: `
  return new AppError(error.code, `${typed}${withOptions(error.message)}`, {
    details: error.details,
    ...(error.hint !== undefined && { hint: withOptions(error.hint) }),
    cause: error,
  })
}

/** The release client of a cluster reports the name of the member, the REST API its path in the body. */
function memberOf(error: AppError): Member | undefined {
  const { path = problemPath(error) } = error.details
  return Object.keys(optionOf).find((member): member is Member => member === path)
}

function problemPath(error: AppError): string | undefined {
  return error instanceof ApiProblemError ? error.problem?.problems?.[0]?.path.replace(/^body\./, '') : undefined
}

function withOptions(text: string): string {
  return unmistakable.reduce((said, member) => said.replace(new RegExp(`\\b${member}\\b`, 'g'), optionOf[member]), text)
}
