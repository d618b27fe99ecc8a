import { AppError, isAppError } from '@tranche/errors'

/** @returns KUBECONFIG_INVALID for the file (or files) at `path`, with a hint for the fix */
export function invalidKubeConfig(path: string, message: string, rest: { readonly hint: string; readonly cause?: unknown }): AppError {
  return new AppError('KUBECONFIG_INVALID', message, { details: { path }, ...rest })
}

/** @returns the message of any thrown value */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Treats a kubeconfig error as temporary: once the process had access, a file that is just being written, or a plugin whose service is
 * down, needs no person.
 *
 * @returns CREDENTIALS_UNAVAILABLE for KUBECONFIG_INVALID; any other error as it is
 */
export function passing(error: unknown): unknown {
  if (!isAppError(error) || error.code !== 'KUBECONFIG_INVALID') return error
  const { message, details, hint, cause } = error
  return new AppError('CREDENTIALS_UNAVAILABLE', message, { details, ...(hint !== undefined && { hint }), cause })
}
