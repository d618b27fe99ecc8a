/** @see meta/v1 StatusCause */
export interface StatusCause {
  readonly reason?: string
  readonly message: string
  readonly field?: string
}

/** @see meta/v1 Status, as the API server answers with for everything that is not 2xx */
export interface ApiStatus {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  /** Empty, but for a list that came too late: there it carries a token to go on with. */
  readonly metadata: { readonly continue?: string }
  readonly status: 'Failure' | 'Success'
  readonly message?: string
  readonly reason?: string
  readonly details?: {
    readonly name?: string
    readonly group?: string
    readonly kind?: string
    readonly uid?: string
    readonly causes?: readonly StatusCause[]
    readonly retryAfterSeconds?: number
  }
  readonly code?: number
}

/** The answer to a request that failed, as an error; `status` is the body on the wire. */
export class ApiStatusError extends Error {
  override readonly name = 'ApiStatusError'
  readonly status: ApiStatus
  readonly code: number

  constructor(code: number, reason: string, message: string, details?: ApiStatus['details'], metadata: ApiStatus['metadata'] = {}) {
    super(message)
    this.code = code
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata,
      status: 'Failure',
      message,
      ...(reason !== '' && { reason }),
      ...(details && { details }),
      code,
    }
  }
}

/** @returns whether `error` is an answer with this status code */
export function isStatus(error: unknown, code: number): error is ApiStatusError {
  return error instanceof ApiStatusError && error.code === code
}
