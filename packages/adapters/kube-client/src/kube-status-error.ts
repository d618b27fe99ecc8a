import { AppError } from '@tranche/errors'

/** One field that the server found wrong. @see meta/v1 StatusCause */
export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  /** Path of the field, as `spec.template.spec.containers[0].image`. */
  readonly field?: string
}

/** What a {@link KubeStatusError} is made of. */
export interface StatusFields {
  /** What was attempted: `PATCH /api/v1/...`. */
  readonly attempt: string
  /** HTTP status code, or the `code` of an ERROR event of a watch. */
  readonly status: number
  readonly reason?: string | undefined
  readonly message?: string | undefined
  readonly causes?: readonly StatusCause[] | undefined
  /** What the server asks us to wait before the next attempt, in milliseconds; null when it said nothing. */
  readonly retryAfterMs?: number | null
}

/**
 * The API server answered with an error. Its `code` is WRITE_CONFLICT for 409, else API_REFUSED.
 *
 * @see meta/v1 Status
 */
export class KubeStatusError extends AppError {
  override readonly name = 'KubeStatusError'
  readonly status: number
  /** CamelCase word of the server: `NotFound`, `Conflict`, `AlreadyExists`, `Invalid`, `Expired`, …; empty when it gave none. */
  readonly reason: string
  /** `message` of the Status as the server wrote it; empty when it gave none. */
  readonly serverMessage: string
  readonly causes: readonly StatusCause[]
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
    this.retryAfterMs = fields.retryAfterMs ?? null
  }
}

function messageOf(fields: StatusFields): string {
  const said = fields.message ?? ''
  return `${fields.attempt} was answered with ${fields.status}${fields.reason ? ` ${fields.reason}` : ''}${said === '' ? '' : `: ${said}`}`
}

/**
 * Reads a body that should be a Status. Whatever it is, an error comes out: proxies answer with HTML.
 *
 * @param retryAfter value of the Retry-After header; only whole seconds are understood
 */
export function toStatusError(attempt: string, httpStatus: number, body: string, retryAfter?: string): KubeStatusError {
  return statusErrorOf(attempt, parseStatus(body), httpStatus, retryAfter)
}

/** Turns a Status value (the object of an ERROR event, too) into an error. */
export function statusErrorOf(attempt: string, value: unknown, fallbackStatus: number, retryAfter?: string): KubeStatusError {
  const status = (typeof value === 'object' && value !== null ? value : {}) as StatusBody
  return new KubeStatusError({
    attempt,
    status: typeof status.code === 'number' && status.code > 0 ? status.code : fallbackStatus,
    reason: status.reason,
    message: status.message,
    causes: status.details?.causes,
    retryAfterMs: secondsToMs(retryAfter) ?? secondsToMs(status.details?.retryAfterSeconds),
  })
}

interface StatusBody {
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly details?: { readonly causes?: readonly StatusCause[]; readonly retryAfterSeconds?: number }
}

const LONGEST_FOREIGN_MESSAGE = 200

function parseStatus(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return { message: body.trim().slice(0, LONGEST_FOREIGN_MESSAGE) }
  }
}

function secondsToMs(seconds: string | number | undefined): number | null {
  if (seconds === undefined || seconds === '' || seconds === 0) return null
  const value = Number(seconds)
  return Number.isFinite(value) && value >= 0 ? value * 1000 : null
}

/** @returns whether the server said that there is no such object */
export function isNotFound(error: unknown): error is KubeStatusError {
  return hasStatus(error, 404)
}

/** @returns whether the server does not accept the credentials (401); the client logs that itself */
export function isUnauthorized(error: unknown): error is KubeStatusError {
  return hasStatus(error, 401)
}

/** @returns whether the server does not let us (403) */
export function isForbidden(error: unknown): error is KubeStatusError {
  return hasStatus(error, 403)
}

/** @returns whether the server could not read what was sent (400): also a field that it does not know, where it was asked to be strict */
export function isBadRequest(error: unknown): error is KubeStatusError {
  return hasStatus(error, 400)
}

/** @returns whether the object is not as the writer believed: it changed (`Conflict`), or it is there already (`AlreadyExists`) */
export function isConflict(error: unknown): error is KubeStatusError {
  return hasStatus(error, 409)
}

/** @returns whether a create met an object of that name */
export function isAlreadyExists(error: unknown): error is KubeStatusError {
  return hasStatus(error, 409) && error.reason === 'AlreadyExists'
}

/** @returns whether the server found the content wrong (422): a failed JSON Patch `test`, too */
export function isInvalid(error: unknown): error is KubeStatusError {
  return hasStatus(error, 422)
}

/** @returns whether the server no longer holds what was asked for (410): a watch or list must start anew */
export function isExpired(error: unknown): error is KubeStatusError {
  return hasStatus(error, 410)
}

function hasStatus(error: unknown, status: number): error is KubeStatusError {
  return error instanceof KubeStatusError && error.status === status
}
