import { AppError } from '@tranche/errors'
import type { Caller } from '../auth/caller.ts'
import type { LoginOptions } from './login-options.ts'

/**
 * Maps the claims of an ID token to a user, as the API server does with the same options.
 *
 * @throws {AppError} LOGIN_FAILED if the claims contain no user, or a name that is reserved for the cluster (`system:`)
 */
export function identityOf(
  claims: Readonly<Record<string, unknown>>,
  { usernameClaim, usernamePrefix, groupsClaim, groupsPrefix }: LoginOptions,
): Caller {
  const name = claims[usernameClaim]
  if (typeof name !== 'string' || name === '') throw failed(`the claim ${usernameClaim} is not a non-empty string`)
  if (usernameClaim === 'email' && 'email_verified' in claims && claims['email_verified'] !== true)
    throw failed('the e-mail address is not verified')
  const username = `${usernamePrefix}${name}`
  const groups = textsOf(groupsClaim === undefined ? undefined : claims[groupsClaim], groupsClaim ?? '').map(
    (group) => `${groupsPrefix}${group}`,
  )
  const own = nameOfCluster({ username, groups })
  if (own !== undefined) throw failed(`the name ${own} is reserved for the cluster`)
  return { username, groups }
}

/** @returns the first user or group name with the reserved prefix `system:`; undefined if there is none */
export function nameOfCluster({ username, groups }: Pick<Caller, 'username' | 'groups'>): string | undefined {
  return [username, ...groups].find((one) => one.startsWith('system:'))
}

function textsOf(value: unknown, claim: string): readonly string[] {
  if (value === undefined) return []
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.map((one) => {
    if (typeof one !== 'string' || one === '') throw failed(`the claim ${claim} is neither a string nor a list of strings`)
    return one
  })
}

function failed(why: string): AppError {
  return new AppError('LOGIN_FAILED', why)
}
