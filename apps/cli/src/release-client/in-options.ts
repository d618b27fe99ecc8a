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

/** Members whose names are no words of a sentence besides. */
const unmistakable: readonly Member[] = ['expectedStep', 'toRevision']

/**
 * @param said the body as it was typed, without what a look has added
 * @returns the refusal of an action in the words of the command line: with the option and the value that it is about, where they were typed
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

/** The cluster's desk says it by name, the REST API as a place in the body. */
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
