/** @see meta/v1 StatusCause */
export interface StatusCause {
  readonly reason?: string
  readonly message: string
  readonly field?: string
}

/** Body of every non-2xx response. @see meta/v1 Status */
export interface ApiStatus {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  /** Empty, except for an expired list page, which carries a token to continue. */
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

/** Error for a failed request; `status` is the response body. */
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

/** @returns whether `error` is a response with this status code */
export function isStatus(error: unknown, code: number): error is ApiStatusError {
  return error instanceof ApiStatusError && error.code === code
}
