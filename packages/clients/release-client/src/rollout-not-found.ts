import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'

/** @returns the error for a Rollout that does not exist */
export function rolloutNotFound({ namespace, name }: ObjectKey): AppError {
  return new AppError('ROLLOUT_NOT_FOUND', `there is no Rollout ${name} in namespace ${namespace}`, {
    details: { namespace, name },
    hint: 'Look for it in another namespace.',
  })
}
