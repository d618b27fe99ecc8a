import type { ApiObject } from '../model/client.ts'
import type { ApiStatusError, StatusCause } from '../model/status-error.ts'
import type { Snapshot } from '../store/bucket.ts'
import { objectOrEmpty } from '../model/json.ts'
import type { Store } from '../store/store.ts'
import { badRequest, expired, futureResourceVersion, invalidObject } from '../model/errors.ts'
import { notAllowed, notSupported } from '../model/field-errors.ts'
import type { ApiList, RequestOptions } from '../model/request.ts'
import { idOf, type ResourceDefinition } from '../model/resource-definition.ts'
import { parseSelection } from '../model/selectors.ts'

/**
 * Handles a list request.
 *
 * @throws {ApiStatusError} 400 for bad selectors or a bad continue token, 410 for an expired snapshot, 422 for options that cannot be
 *   combined, 504 for a resource version from the future
 */
export function listObjects(store: Store, definition: ResourceDefinition, namespace: string | undefined, options: RequestOptions): ApiList {
  refuseListOptions(options)
  const matches = parseSelection(definition, { ...options, namespace })
  const page = startOf(store, definition, options)
  const keys = keysFrom(page.snapshot.keys, page.start)
  const limit = options.limit === undefined || options.limit <= 0 ? Number.POSITIVE_INFINITY : options.limit

  const items: ApiObject[] = []
  let at = 0
  for (; at < keys.length && items.length < limit; at++) {
    const object = page.snapshot.objects.get(keys[at]!)!
    if (matches(object)) items.push(object)
  }
  const rest = at < keys.length ? keys.slice(at).filter((key) => matches(page.snapshot.objects.get(key)!)) : []
  const more = rest.length > 0 && { continue: writeToken(page.revision, rest[0]!) }
  const counted = more && !options.labelSelector && !options.fieldSelector && { remainingItemCount: rest.length }
  return {
    apiVersion: apiVersionOf(definition),
    kind: definition.listKind,
    metadata: { resourceVersion: String(page.revision), ...more, ...counted },
    items,
  }
}

/** @returns `group/version` of stored objects; the version alone in the core group */
export function apiVersionOf(definition: Pick<ResourceDefinition, 'group' | 'version'>): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`
}

/**
 * Parses a resource version.
 *
 * @throws {ApiStatusError} 400 when it is not a decimal number
 */
export function parseRevision(text: string): number {
  const why = whyNoRevision(text)
  if (why !== undefined) throw badRequest(`invalid resource version: ${why}`)
  return Number(text)
}

/** @returns error of an invalid resource version; undefined when it is a decimal number */
export function whyNoRevision(text: string): string | undefined {
  if (/^\d{1,15}$/.test(text)) return undefined
  const quoted = JSON.stringify(text)
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`
}

interface Page {
  readonly revision: number
  readonly snapshot: Snapshot
  /** First key of the page. */
  readonly start: string
}

interface Token {
  readonly v: 'meta.k8s.io/v1'
  /** −1: continue with the current objects. */
  readonly rv: number
  readonly start: string
}

function refuseListOptions(options: RequestOptions): void {
  const { resourceVersion = '', resourceVersionMatch = '' } = options
  const causes: StatusCause[] = []
  if (options.sendInitialEvents !== undefined) causes.push(notAllowed('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  if (resourceVersionMatch !== '') {
    if (options.continue) causes.push(notAllowed('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'))
    if (resourceVersion === '')
      causes.push(notAllowed('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    if (resourceVersionMatch !== 'Exact' && resourceVersionMatch !== 'NotOlderThan')
      causes.push(notSupported('resourceVersionMatch', resourceVersionMatch, ['Exact', 'NotOlderThan', '']))
    if (resourceVersionMatch === 'Exact' && resourceVersion === '0')
      causes.push(notAllowed('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (causes.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes)
}

function startOf(store: Store, definition: ResourceDefinition, options: RequestOptions): Page {
  const bucket = store.bucket(idOf(definition))
  if (options.continue) return continued(store, definition, options)
  const asked = options.resourceVersion || '0'
  const revision = parseRevision(asked)
  if (revision > store.revision) throw futureResourceVersion(asked, store.revision)
  if (!isExact(options, revision)) return { revision: store.revision, snapshot: bucket.current(), start: '' }
  const snapshot = bucket.at(revision)
  if (snapshot === null) throw expired(`The resourceVersion for the provided list is too old.`)
  return { revision, snapshot, start: '' }
}

/** A page of a named version has always been exact, even without `resourceVersionMatch`. */
function isExact({ resourceVersionMatch = '', limit = 0 }: RequestOptions, revision: number): boolean {
  return resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && limit > 0 && revision > 0)
}

function continued(store: Store, definition: ResourceDefinition, options: RequestOptions): Page {
  const bucket = store.bucket(idOf(definition))
  const token = readToken(options.continue!)
  if (options.resourceVersion && options.resourceVersion !== '0')
    throw badRequest('specifying resource version is not allowed when using continue')
  if (token.rv > store.revision) throw futureResourceVersion(String(token.rv), store.revision)
  if (token.rv < 0) return { revision: store.revision, snapshot: bucket.current(), start: token.start }
  const snapshot = bucket.at(token.rv)
  if (snapshot === null) throw expired(CONTINUE_EXPIRED, writeToken(-1, token.start))
  return { revision: token.rv, snapshot, start: token.start }
}

const CONTINUE_EXPIRED =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

function writeToken(rv: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start } satisfies Token)).toString('base64url')
}

function readToken(text: string): Token {
  const { v, rv, start } = objectOrEmpty(parsedToken(text))
  if (v !== 'meta.k8s.io/v1') throw badToken(`server does not recognize this encoded version ${String(v ?? '')}`)
  if (!Number.isSafeInteger(rv) || rv === 0) throw badToken('incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  if (typeof start !== 'string' || start === '') throw badToken('encoded start key empty (version meta.k8s.io/v1)')
  if (start.split('/').includes('..')) throw badToken(start)
  return { v, rv: rv as number, start }
}

function parsedToken(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    throw badToken('it is not what this server gave out')
  }
}

function badToken(why: string): ApiStatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`)
}

function keysFrom(keys: readonly string[], start: string): readonly string[] {
  if (start === '') return keys
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (keys[middle]! < start) low = middle + 1
    else high = middle
  }
  return keys.slice(low)
}
