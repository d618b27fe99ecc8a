import type { Actor } from '../model/client.ts'
import { badRequest } from '../model/errors.ts'
import { ApiStatusError } from '../model/status-error.ts'
import { anonymous, type Attributes, authenticatedGroup, type Decision, forbiddenRequest } from './attributes.ts'
import type { Authorizer } from './authorizer.ts'
import type { ReadObject, ServiceAccountTokens } from './service-account-tokens.ts'

/** Authentication and authorization of a server. */
export interface AccessControl extends Authorizer {
  readonly tokens: ServiceAccountTokens
  readonly readObject: ReadObject
}

/** Authenticates requests. */
export type Authenticate = (headers: Readonly<Record<string, string>>) => Actor

/** @returns identity of a bearer token that belongs to no service account; undefined when unknown */
export type OwnerOf = (token: string) => Actor | undefined

/** @param actors by token; read on every request */
export function createTokenReader(actors: Readonly<Record<string, Actor>>): OwnerOf {
  const known = new WeakMap<Actor, Actor>()
  return (token) => {
    const actor = Object.hasOwn(actors, token) ? actors[token] : undefined
    if (actor === undefined) return undefined
    let full = known.get(actor)
    if (full === undefined) known.set(actor, (full = { ...actor, groups: [...(actor.groups ?? []), authenticatedGroup] }))
    return full
  }
}

/**
 * @returns function that reads the headers of a request: the token and the impersonated identity. It throws ApiStatusError 401 for an
 *   unknown token, 403 for a forbidden impersonation
 */
export function createAuthenticator(access: AccessControl, ownerOf: OwnerOf): Authenticate {
  return (headers) => {
    const token = /^Bearer (.+)$/i.exec(headers['authorization'] ?? '')?.[1]
    if (token === undefined) return impersonated(access, anonymous, headers)
    const actor = ownerOf(token) ?? access.tokens.read(token)?.actor
    if (actor === undefined) throw new ApiStatusError(401, 'Unauthorized', 'Unauthorized')
    return impersonated(access, actor, headers)
  }
}

/** @throws {ApiStatusError} 403 */
export function requireAllowed(access: Pick<Authorizer, 'authorize'>, actor: Actor, attributes: Attributes): void {
  const decision: Decision = access.authorize(actor, attributes)
  if (!decision.allowed) throw forbiddenRequest(actor, attributes, decision.reason)
}

const EXTRA = 'impersonate-extra-'

/** Impersonates another user when the headers say so and the sender may impersonate each part of that identity. */
function impersonated(access: AccessControl, actor: Actor, headers: Readonly<Record<string, string>>): Actor {
  const name = headers['impersonate-user']
  const uid = headers['impersonate-uid']
  const groups = valuesOf(headers['impersonate-group'])
  const extra = extraOf(headers)
  if (name === undefined) {
    if (uid === undefined && groups.length === 0 && Object.keys(extra).length === 0) return actor
    throw badRequest('impersonation of groups, uid or extra without a user')
  }
  const check = (resource: string, what: string, more: { group?: string; namespace?: string; subresource?: string } = {}): void =>
    requireAllowed(access, actor, { kind: 'resource', verb: 'impersonate', group: '', resource, name: what, ...more })
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name)
  if (account === null) check('users', name)
  else check('serviceaccounts', account[2]!, { namespace: account[1]! })
  for (const group of groups) check('groups', group)
  if (uid !== undefined) check('uids', uid, { group: 'authentication.k8s.io' })
  for (const [key, values] of Object.entries(extra))
    for (const value of values) check('userextras', value, { group: 'authentication.k8s.io', subresource: key })
  const own = account === null || groups.length > 0 ? groups : ['system:serviceaccounts', `system:serviceaccounts:${account[1]}`]
  return { name, groups: withStanding(name, own), ...(uid !== undefined && { uid }), ...(Object.keys(extra).length > 0 && { extra }) }
}

/** Every user is in either the authenticated or the unauthenticated group. */
function withStanding(name: string, groups: readonly string[]): readonly string[] {
  const unauthenticated = anonymous.groups![0]!
  if (groups.includes(authenticatedGroup) || groups.includes(unauthenticated)) return groups
  return [...groups, name === anonymous.name ? unauthenticated : authenticatedGroup]
}

/** Repeated headers are joined with commas. */
function valuesOf(header: string | undefined): readonly string[] {
  return header === undefined ? [] : header.split(', ').filter((value) => value !== '')
}

function extraOf(headers: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  const names = Object.keys(headers).filter((name) => name.startsWith(EXTRA))
  return Object.fromEntries(names.map((name) => [decoded(name.slice(EXTRA.length)), valuesOf(headers[name])]))
}

/** A name with invalid percent-encoding is taken literally. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
