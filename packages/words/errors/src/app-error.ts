import { errorCatalog, type ErrorCode, type Remedy } from './catalog.ts'

/** Plain values only: they are logged as fields and answered as JSON. Never put an object read from the cluster here. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean>>

interface AppErrorOptions {
  readonly details?: ErrorDetails
  /** What the reader can do next, as an imperative: "Set spec.strategy.canary.steps[1].replicas to at most 100%." */
  readonly hint?: string
  readonly cause?: unknown
}

/**
 * An error that a user or an operator can meet. `code` is part of the public API; messages may be
 * reworded freely because nobody matches on them.
 *
 * A mistake in our own code (an impossible branch, a missing argument) stays a plain Error.
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

/** @returns whether `error` carries a code of the catalog */
export function isAppError(error: unknown): error is AppError {
  return error instanceof AppError
}
