import { AppError } from '@tranche/errors'

/** @returns KUBECONFIG_INVALID about the file (or files) at `path`, with what to do about it */
export function invalidKubeConfig(path: string, message: string, rest: { readonly hint: string; readonly cause?: unknown }): AppError {
  return new AppError('KUBECONFIG_INVALID', message, { details: { path }, ...rest })
}

/** @returns what was thrown, as words */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
