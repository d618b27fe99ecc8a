import {
  controllerKeyOf,
  controllerOf,
  type ControllerRevision,
  type DaemonSet,
  isSameJson,
  ownerKeyOf,
  REFUSED_LABEL,
  REVISION_HASH_LABEL,
} from '@tranche/kube-types'
import { type Admission, type AdmissionOperation, allow, isOurWrite } from './admission.ts'
import { isSameAsSent } from './same-json.ts'

/** A write to a DaemonSet, and the revisions whose templates are refused. */
export interface ReapplyRequest {
  readonly operation: AdmissionOperation
  readonly oldObject: DaemonSet | null
  readonly newObject: DaemonSet | null
  /** ControllerRevisions of the namespace with the label {@link REFUSED_LABEL}, of any owner. */
  readonly refused: readonly ControllerRevision[]
  readonly fieldManager?: string | undefined
}

/**
 * Refuses a template of a revision of the DaemonSet with the label {@link REFUSED_LABEL}. The controller sets the label on revisions
 * that failed or were aborted if the ReleasePolicy has `failure.onReapply: Deny` (G12).
 */
export function admitReapply({ operation, oldObject, newObject, refused, fieldManager }: ReapplyRequest): Admission {
  if (operation !== 'UPDATE' || oldObject === null || newObject === null || isOurWrite(fieldManager)) return allow()
  if (isSameAsSent(oldObject.spec.template, newObject.spec.template)) return allow()
  const held = refused.find((revision) => isRefusedFor(oldObject, revision) && isSameTemplate(newObject.spec.template, revision.data))
  if (held === undefined) return allow()
  const message = `spec.template: ${reapplyText(`revision ${held.metadata.labels?.[REVISION_HASH_LABEL] ?? held.metadata.name}`)}`
  return { kind: 'deny', message, causes: [] }
}

/** @param revision text such as `revision 5d4f` @returns why its template is refused, and the fix */
export function reapplyText(revision: string): string {
  return `${revision} failed or was aborted, and its policy has failure.onReapply: Deny; apply another template, or run tranche retry on its Rollout to release ${revision} anyway`
}

/** Whether the revision belongs to the DaemonSet (F15). Does not check the selector, because the CEL policy cannot evaluate one. */
function isRefusedFor(daemonSet: DaemonSet, revision: ControllerRevision): boolean {
  const isControlled = controllerOf(revision)?.kind === 'DaemonSet' && controllerKeyOf(revision) === ownerKeyOf(daemonSet)
  return isControlled && revision.metadata.labels?.[REFUSED_LABEL] === 'true'
}

/** The compared parts of a template. */
interface Template {
  readonly metadata?: { readonly labels?: unknown; readonly annotations?: unknown } | null
  readonly spec?: unknown
}

/** Compares templates without `creationTimestamp` and without the patch directive in the data of the revision. */
function isSameTemplate(sent: Template, data: unknown): boolean {
  const kept = (data as { readonly spec?: { readonly template?: Template } } | undefined)?.spec?.template
  return kept !== undefined && isSameJson(partsOf(sent), partsOf(kept))
}

function partsOf({ metadata, spec }: Template): unknown {
  return [metadata?.labels ?? {}, metadata?.annotations ?? {}, spec ?? null]
}
