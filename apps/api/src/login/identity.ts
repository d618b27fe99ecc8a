import { AppError } from '@tranche/errors'
import type { Caller } from '../auth/caller.ts'
import type { LoginOptions } from './login-options.ts'

/**
 * Tells whom the claims of an ID token stand for, as the API server would with the same options.
 *
 * @throws {AppError} LOGIN_FAILED where they name nobody, or somebody whom only the cluster itself may be
 */
export function identityOf(
  claims: Readonly<Record<string, unknown>>,
  { usernameClaim, usernamePrefix, groupsClaim, groupsPrefix }: LoginOptions,
): Caller {
  const name = claims[usernameClaim]
  if (typeof name !== 'string' || name === '') throw failed(`the claim ${usernameClaim} is no text`)
  if (usernameClaim === 'email' && 'email_verified' in claims && claims['email_verified'] !== true)
    throw failed('the e-mail address is not verified')
  const username = `${usernamePrefix}${name}`
  const groups = textsOf(groupsClaim === undefined ? undefined : claims[groupsClaim], groupsClaim ?? '').map(
    (group) => `${groupsPrefix}${group}`,
  )
  const own = nameOfCluster({ username, groups })
  if (own !== undefined) throw failed(`${own} is a name of the cluster itself`)
  return { username, groups }
}

/** @returns a name of the user, or of a group, that only the cluster itself gives; undefined where there is none */
export function nameOfCluster({ username, groups }: Pick<Caller, 'username' | 'groups'>): string | undefined {
  return [username, ...groups].find((one) => one.startsWith('system:'))
}

function textsOf(value: unknown, claim: string): readonly string[] {
  if (value === undefined) return []
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.map((one) => {
    if (typeof one !== 'string' || one === '') throw failed(`the claim ${claim} is neither a text nor a list of texts`)
    return one
  })
}

function failed(why: string): AppError {
  return new AppError('LOGIN_FAILED', why)
}
