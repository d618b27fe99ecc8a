import { fieldManagers, clipText } from '@tranche/kube-types'

/** One operation of a JSON Patch (RFC 6902) as admission sends it; pointers are escaped. */
export type AdmissionPatchOperation = { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }

/** Problem of one field. @see meta/v1 StatusCause */
export interface DenyCause {
  readonly reason: 'FieldValueInvalid' | 'FieldValueRequired' | 'FieldValueNotSupported'
  /** Text without the field: clients print `field` in front of it. */
  readonly message: string
  readonly field: string
}

/** Decision on a request. The client that sent it shows the warnings; each is one sentence without a full stop. */
export type Admission =
  | { readonly kind: 'allow'; readonly warnings: readonly string[] }
  /** Allowed with these changes; `patch` is never empty. */
  | { readonly kind: 'patch'; readonly patch: readonly AdmissionPatchOperation[]; readonly warnings: readonly string[] }
  | { readonly kind: 'deny'; readonly message: string; readonly causes: readonly DenyCause[] }

/** Operations that admission reviews. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE'

/** @returns the decision to allow a request unchanged */
export function allow(warnings: readonly string[] = []): Admission {
  return { kind: 'allow', warnings: firstWarnings(warnings) }
}

/** Maximum number of warnings, and of characters of each; names and annotations of users are parts of them. */
const MOST_WARNINGS = 30
const LONGEST_WARNING = 2_000

/** @returns the first warnings, each of a length that clients can print, with a count of those left out */
export function firstWarnings(warnings: readonly string[]): readonly string[] {
  const first = warnings.slice(0, MOST_WARNINGS).map((warning) => clipText(warning, LONGEST_WARNING))
  return warnings.length <= MOST_WARNINGS ? first : [...first, `${warnings.length - MOST_WARNINGS} more warnings are left out`]
}

/** Whether a request comes from a Tranche program, by its field manager. */
export function isOurWrite(fieldManager: string | undefined): boolean {
  return fieldManager === fieldManagers.controller || fieldManager === fieldManagers.executor
}
