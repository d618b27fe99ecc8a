import type { ApiObject, ResourceId } from '../model/client.ts'

/** One accepted write. */
export interface Change {
  readonly id: ResourceId
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  /** After the change; for DELETED the last state, with the resource version of the deletion. */
  readonly object: ApiObject
  /** Before the change; undefined for ADDED. */
  readonly previous: ApiObject | undefined
}
