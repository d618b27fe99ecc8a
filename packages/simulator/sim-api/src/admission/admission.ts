import type { Actor, ApiObject, ResourceId } from '../client.ts'
import type { ApiStatusError } from '../status-error.ts'

/** A write about to happen, as admission sees it. Objects are frozen. */
export interface AdmissionReview {
  readonly actor: Actor
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly resource: ResourceId
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
  readonly subresource: string | undefined
  readonly dryRun: boolean
  /** Undefined for CREATE. */
  readonly oldObject: ApiObject | undefined
  /** Undefined for DELETE. Defaults are filled in. */
  readonly object: ApiObject | undefined
}

/** What admission says. */
export type AdmissionAnswer =
  /** `object`: what to store instead; name, namespace, uid and resource version must stay. */
  | { readonly allowed: true; readonly object?: ApiObject; readonly warnings?: readonly string[] }
  | { readonly allowed: false; readonly error: ApiStatusError }

/** Looks at writes before validation, and may change or refuse them. May be asked again for the same write when the object changed meanwhile. */
export interface Admission {
  /** @returns whether `admit` is to be asked */
  handles(review: Pick<AdmissionReview, 'operation' | 'resource' | 'subresource'>): boolean
  admit(review: AdmissionReview): AdmissionAnswer | Promise<AdmissionAnswer>
}
