import { AppError, isAppError } from '@tranche/errors'

/** @returns KUBECONFIG_INVALID about the file (or files) at `path`, with what to do about it */
export function invalidKubeConfig(path: string, message: string, rest: { readonly hint: string; readonly cause?: unknown }): AppError {
  return new AppError('KUBECONFIG_INVALID', message, { details: { path }, ...rest })
}

/** @returns what was thrown, as words */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Takes what is wrong with a kubeconfig for something that passes: once we were let in, a file that is just being written
 * or a plugin whose service is away is no reason to wait for a person.
 *
 * @returns CREDENTIALS_UNAVAILABLE for KUBECONFIG_INVALID; anything else as it is
 */
export function passing(error: unknown): unknown {
  if (!isAppError(error) || error.code !== 'KUBECONFIG_INVALID') return error
  const { message, details, hint, cause } = error
  return new AppError('CREDENTIALS_UNAVAILABLE', message, { details, ...(hint !== undefined && { hint }), cause })
}
