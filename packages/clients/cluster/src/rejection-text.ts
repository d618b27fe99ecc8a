import { KubeStatusError } from '@tranche/kube-client'

/**
 * Words of the API server about a write that it would reject again: for its content, a missing right or namespace, a quota or a policy.
 *
 * @throws the error, if a repetition may succeed
 */
export function rejectionText(error: unknown): string {
  const isFinal = error instanceof KubeStatusError && [400, 403, 404, 422].includes(error.status)
  if (!isFinal) throw error
  return error.serverMessage || error.message
}
