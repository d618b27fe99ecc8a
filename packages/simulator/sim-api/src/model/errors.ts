import type { ResourceId } from './client.ts'
import { ApiStatusError, type StatusCause } from './status-error.ts'

/** @returns 400 BadRequest */
export function badRequest(message: string): ApiStatusError {
  return new ApiStatusError(400, 'BadRequest', message)
}

/** @returns 403 Forbidden about one object */
export function forbidden(id: ResourceId, name: string, why: string, causes?: readonly StatusCause[]): ApiStatusError {
  return new ApiStatusError(403, 'Forbidden', `${quoted(id, name)} is forbidden: ${why}`, {
    ...details(id, name),
    ...(causes && { causes }),
  })
}

/** @returns 404 NotFound about one object */
export function notFound(id: ResourceId, name: string): ApiStatusError {
  return new ApiStatusError(404, 'NotFound', `${quoted(id, name)} not found`, details(id, name))
}

/** @returns 404 NotFound about a path that no resource is served under */
export function noSuchResource(): ApiStatusError {
  return new ApiStatusError(404, 'NotFound', 'the server could not find the requested resource', {})
}

/** @returns 405 MethodNotAllowed */
export function methodNotAllowed(): ApiStatusError {
  return new ApiStatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
}

/** @returns 409 AlreadyExists */
export function alreadyExists(id: ResourceId, name: string): ApiStatusError {
  return new ApiStatusError(409, 'AlreadyExists', `${quoted(id, name)} already exists`, details(id, name))
}

/** @returns 409 Conflict: the write was based on an older version of the object than the stored one */
export function modifiedMeanwhile(id: ResourceId, name: string): ApiStatusError {
  return conflict(id, name, 'the object has been modified; please apply your changes to the latest version and try again')
}

/** @returns 409 Conflict for any other reason */
export function conflict(id: ResourceId, name: string, why: string): ApiStatusError {
  return new ApiStatusError(409, 'Conflict', `Operation cannot be fulfilled on ${quoted(id, name)}: ${why}`, details(id, name))
}

/** @returns 410 Expired: the requested resource version is older than the history */
export function expired(message: string, continueToken?: string): ApiStatusError {
  return new ApiStatusError(410, 'Expired', message, undefined, continueToken === undefined ? {} : { continue: continueToken })
}

/** @returns 415 UnsupportedMediaType for a patch format that the resource does not support */
export function unsupportedPatch(accepted: readonly string[]): ApiStatusError {
  const list = accepted.map((type) => `application/${type}+json`).join(', ')
  return new ApiStatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${list}`,
  )
}

/**
 * @param kind group and kind as in the message: `{group: 'apps', kind: 'DaemonSet'}`
 * @returns 422 Invalid with every cause; equal causes are listed once
 */
export function invalidObject(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  causes: readonly StatusCause[],
): ApiStatusError {
  const distinct = causes.filter((cause, index) => causes.findIndex((other) => sayOf(other) === sayOf(cause)) === index)
  const says = distinct.map(sayOf)
  const groupKind = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
  const message = `${groupKind} ${JSON.stringify(name)} is invalid: ${says.length === 1 ? says[0] : `[${says.join(', ')}]`}`
  return new ApiStatusError(422, 'Invalid', message, {
    ...(name !== '' && { name }),
    ...(kind.group !== '' && { group: kind.group }),
    kind: kind.kind,
    causes: distinct,
  })
}

/** @returns 500 InternalError; the message is the cause alone, because clients match on it */
export function internalError(why: string): ApiStatusError {
  return new ApiStatusError(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] })
}

/** @returns 500 without a reason, as API servers respond to unclassified errors */
export function namelessError(message: string): ApiStatusError {
  return new ApiStatusError(500, '', message)
}

/** @returns 504 Timeout: the resource version is in the future */
export function futureResourceVersion(asked: string, current: number): ApiStatusError {
  return new ApiStatusError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}

function quoted(id: ResourceId, name: string): string {
  return `${id.group === '' ? id.resource : `${id.resource}.${id.group}`} ${JSON.stringify(name)}`
}

function details(id: ResourceId, name: string): { readonly name: string; readonly group?: string; readonly kind: string } {
  return { name, ...(id.group !== '' && { group: id.group }), kind: id.resource }
}

function sayOf(cause: StatusCause): string {
  return cause.field === undefined ? cause.message : `${cause.field}: ${cause.message}`
}
