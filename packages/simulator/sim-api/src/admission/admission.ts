import type { Actor, ApiObject, ResourceId } from '../model/client.ts'
import type { ApiStatusError } from '../model/status-error.ts'

/** Write about to happen, as admission sees it. Objects are frozen. */
export interface AdmissionReview {
  readonly actor: Actor
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly resource: ResourceId
  readonly kind: string
  readonly namespace: string | undefined
  /** Name in the request: empty for a generated name, and for each object of a deleted collection. */
  readonly name: string
  readonly subresource: string | undefined
  readonly dryRun: boolean
  /** Undefined for CREATE. */
  readonly oldObject: ApiObject | undefined
  /** Undefined for DELETE. Defaults are filled in. */
  readonly object: ApiObject | undefined
}

/** Response of admission. */
export type AdmissionAnswer =
  /** `object`: stored instead of the written one; name, namespace, uid and resource version must stay. */
  | { readonly allowed: true; readonly object?: ApiObject; readonly warnings?: readonly string[] }
  | { readonly allowed: false; readonly error: ApiStatusError }

/**
 * Reviews writes before validation; may change or refuse them. May be called again for the same write after a concurrent change of the
 * object.
 */
export interface Admission {
  /** @returns whether to call `admit` */
  handles(review: Pick<AdmissionReview, 'operation' | 'resource' | 'subresource'>): boolean
  admit(review: AdmissionReview): AdmissionAnswer | Promise<AdmissionAnswer>
}
