import type { RecordedAction } from '@tranche/api-schema'
import { sha256Hex } from '@tranche/kube-types'

/**
 * Id of an action with an `Idempotency-Key`: the same for the same user and key across replicas and restarts, and different for
 * other users.
 *
 * @returns `rest-`, `cli-` or `hook-`, and 16 hexadecimal digits
 */
export function keyedActionId(via: RecordedAction['via'], user: string, idempotencyKey: string): string {
  return `${via}-${sha256Hex(JSON.stringify([user, idempotencyKey])).slice(0, 16)}`
}
