import { AppError } from '@tranche/errors'
import { clipText } from '@tranche/kube-types'

/** Field that the server rejected. @see meta/v1 StatusCause */
export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  /** Path of the field, such as `spec.template.spec.containers[0].image`. */
  readonly field?: string
}

/** Fields of a {@link KubeStatusError}. */
export interface StatusFields {
  /** Request that failed: `PATCH /api/v1/...`. */
  readonly attempt: string
  /** HTTP status code, or the `code` of an ERROR event of a watch. */
  readonly status: number
  readonly reason?: string | undefined
  readonly message?: string | undefined
  readonly causes?: readonly StatusCause[] | undefined
  /** Name of the object that the error is about; absent if it is about no object, such as a resource that is not served. */
  readonly objectName?: string | undefined
  /** Wait that the server asks for before the next attempt, in milliseconds; null if it did not ask. */
  readonly retryAfterMs?: number | null
}

/**
 * The API server returned an error. Its `code` is WRITE_CONFLICT for 409, else API_REFUSED.
 *
 * @see meta/v1 Status
 */
export class KubeStatusError extends AppError {
  override readonly name = 'KubeStatusError'
  readonly status: number
  /** Reason of the server in CamelCase: `NotFound`, `Conflict`, `AlreadyExists`, `Invalid`, `Expired`, …; empty if it gave none. */
  readonly reason: string
  /** `message` of the Status as the server wrote it; empty if it gave none. */
  readonly serverMessage: string
  readonly causes: readonly StatusCause[]
  /** @see StatusFields.objectName */
  readonly objectName: string | undefined
  readonly retryAfterMs: number | null

  constructor(fields: StatusFields) {
    const reason = fields.reason ?? ''
    super(fields.status === 409 ? 'WRITE_CONFLICT' : 'API_REFUSED', messageOf(fields), {
      details: { attempt: fields.attempt, status: fields.status, reason },
    })
    this.status = fields.status
    this.reason = reason
    this.serverMessage = fields.message ?? ''
    this.causes = fields.causes ?? []
    this.objectName = fields.objectName
    this.retryAfterMs = fields.retryAfterMs ?? null
  }
}

function messageOf(fields: StatusFields): string {
  const said = fields.message ?? ''
  return `${fields.attempt} was answered with ${fields.status}${fields.reason ? ` ${fields.reason}` : ''}${said === '' ? '' : `: ${said}`}`
}

/**
 * Reads a body that should be a Status. Any body yields an error, because proxies return HTML.
 *
 * @param retryAfter value of the Retry-After header; only whole seconds are read
 */
export function toStatusError(attempt: string, httpStatus: number, body: string, retryAfter?: string): KubeStatusError {
  return statusErrorOf(attempt, parseStatus(body), httpStatus, retryAfter)
}

/** Converts a Status value (also the object of an ERROR event) into an error. */
export function statusErrorOf(attempt: string, value: unknown, fallbackStatus: number, retryAfter?: string): KubeStatusError {
  const status = (typeof value === 'object' && value !== null ? value : {}) as StatusBody
  return new KubeStatusError({
    attempt,
    status: typeof status.code === 'number' && status.code > 0 ? status.code : fallbackStatus,
    reason: status.reason,
    message: status.message,
    causes: status.details?.causes,
    objectName: status.details?.name,
    retryAfterMs: secondsToMs(retryAfter) ?? secondsToMs(status.details?.retryAfterSeconds),
  })
}

interface StatusBody {
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly details?: { readonly name?: string; readonly causes?: readonly StatusCause[]; readonly retryAfterSeconds?: number }
}

const LONGEST_FOREIGN_MESSAGE = 200

function parseStatus(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return { message: clipText(body.trim(), LONGEST_FOREIGN_MESSAGE) }
  }
}

function secondsToMs(seconds: string | number | undefined): number | null {
  if (seconds === undefined || seconds === '' || seconds === 0) return null
  const value = Number(seconds)
  return Number.isFinite(value) && value >= 0 ? value * 1000 : null
}

/** @returns whether the server reported that the object does not exist (404) */
export function isNotFound(error: unknown): error is KubeStatusError {
  return hasStatus(error, 404)
}

/** @returns whether the server rejected the credentials (401); the client logs that itself */
export function isUnauthorized(error: unknown): error is KubeStatusError {
  return hasStatus(error, 401)
}

/** @returns whether the server denied permission (403) */
export function isForbidden(error: unknown): error is KubeStatusError {
  return hasStatus(error, 403)
}

/** @returns whether the server could not read the request (400), which includes unknown fields under strict validation */
export function isBadRequest(error: unknown): error is KubeStatusError {
  return hasStatus(error, 400)
}

/** @returns whether the object is not in the expected state: it changed (`Conflict`), or it exists already (`AlreadyExists`) */
export function isConflict(error: unknown): error is KubeStatusError {
  return hasStatus(error, 409)
}

/** @returns whether a create found an existing object of that name */
export function isAlreadyExists(error: unknown): error is KubeStatusError {
  return hasStatus(error, 409) && error.reason === 'AlreadyExists'
}

/** @returns whether the server rejected the content (422), which includes a failed JSON Patch `test` */
export function isInvalid(error: unknown): error is KubeStatusError {
  return hasStatus(error, 422)
}

/** @returns whether the server no longer holds the requested version (410): a watch or list must start over */
export function isExpired(error: unknown): error is KubeStatusError {
  return hasStatus(error, 410)
}

function hasStatus(error: unknown, status: number): error is KubeStatusError {
  return error instanceof KubeStatusError && error.status === status
}
