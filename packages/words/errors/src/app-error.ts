import { errorCatalog, type ErrorCode, type Remedy } from './catalog.ts'

/** Plain values only: they become log fields and JSON. Never put an object read from the cluster here. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean>>

interface AppErrorOptions {
  readonly details?: ErrorDetails
  /** Next step for the user, as an imperative: "Set spec.strategy.canary.steps[1].replicas to at most 100%." */
  readonly hint?: string
  readonly cause?: unknown
}

/**
 * An error that a user or an operator can get. `code` is part of the public API. Messages are not; they may change at any time.
 *
 * A programming error (an impossible branch, a missing argument) stays a plain Error.
 */
export class AppError extends Error {
  override readonly name: string = 'AppError'
  readonly code: ErrorCode
  readonly details: ErrorDetails
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.details = options.details ?? {}
    this.hint = options.hint
  }

  get remedy(): Remedy {
    return errorCatalog[this.code].remedy
  }
}

/** @returns whether `error` is an AppError, which has a code from the catalog */
export function isAppError(error: unknown): error is AppError {
  return error instanceof AppError
}
