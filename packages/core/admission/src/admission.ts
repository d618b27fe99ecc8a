import { fieldManagers } from '@tranche/kube-types'

/** One operation of a JSON Patch (RFC 6902) as admission sends it; pointers are escaped. */
export type PatchOperation = { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }

/** What is wrong with one field. @see meta/v1 StatusCause */
export interface DenyCause {
  readonly reason: 'FieldValueInvalid' | 'FieldValueRequired' | 'FieldValueNotSupported'
  /** Without the field: whoever shows a cause puts `field` in front of it. */
  readonly message: string
  readonly field: string
}

/** What happens to a request. Warnings are shown to whoever sent it; each is one sentence without full stop. */
export type Admission =
  | { readonly kind: 'allow'; readonly warnings: readonly string[] }
  /** Goes on with these changes; `patch` is never empty. */
  | { readonly kind: 'patch'; readonly patch: readonly PatchOperation[]; readonly warnings: readonly string[] }
  | { readonly kind: 'deny'; readonly message: string; readonly causes: readonly DenyCause[] }

/** The operations that admission is asked about. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE'

/** @returns the decision to let a request through as it is */
export function allow(warnings: readonly string[] = []): Admission {
  return { kind: 'allow', warnings }
}

/** Whether a request comes from a program of ours, which knows what it does. */
export function isOurWrite(fieldManager: string | undefined): boolean {
  return fieldManager === fieldManagers.controller || fieldManager === fieldManagers.executor
}
