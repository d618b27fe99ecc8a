import { CORDON_ANNOTATION, fieldManagers, type KubeObject, type Node } from '@tranche/kube-types'
import { type CordonMark, cordonMarkOf, type DrainedPermit, isMarkFor, isMarkOf, toMark } from './cordon-mark.ts'

/** Merge patch of a node. The API server rejects it (409) if the node is no longer as it was read. */
export interface NodePatch {
  readonly metadata: { readonly resourceVersion: string; readonly annotations: Readonly<Record<string, string | null>> }
  readonly spec?: { readonly unschedulable: true | null }
}

/** Next step before the consumers of a node are evicted. */
export type CordonStep =
  /** Nothing: the node is marked for this permit. */
  | { readonly kind: 'done' }
  /** Send this patch, which marks the node and makes it unschedulable in one write. */
  | { readonly kind: 'mark'; readonly patch: NodePatch }
  /** Wait: another release drains the node. */
  | { readonly kind: 'taken'; readonly by: CordonMark }

/**
 * Decides how a node is cordoned for a permit. A node that is unschedulable without a mark was cordoned by a user, and is never uncordoned.
 * It is marked all the same: once the user makes it schedulable, it is not cordoned again. A node that a user makes schedulable in mid-drain
 * stays schedulable, also under another permit for the same pod.
 *
 * @param isYielded whether a user made it schedulable during the drain for an earlier permit, whose mark is gone
 */
export function cordonStep(node: Node, drained: DrainedPermit, isYielded = false): CordonStep {
  const mark = cordonMarkOf(node)
  const isCordoned = node.spec?.unschedulable === true
  // The meaning of an unreadable mark is unknown, so the cordon may be that of a user.
  if (mark === null || mark === undefined) return { kind: 'mark', patch: markPatch(node, toMark(drained, !isCordoned && !isYielded)) }
  if (!isMarkOf(mark, drained.release)) return { kind: 'taken', by: mark }
  if (!isMarkFor(mark, drained)) {
    // Another permit for the same pod, which has changed, continues the drain.
    const isOwn = isCordoned ? isOwnCordon(node, mark) : mark.podUid !== drained.permit.podUid
    return { kind: 'mark', patch: markPatch(node, toMark(drained, isOwn)) }
  }
  if (mark.cordoned && !isOwnCordon(node, mark)) return { kind: 'mark', patch: markPatch(node, toMark(drained, false)) }
  return { kind: 'done' }
}

/** @returns the patch that removes the mark, and with it the cordon that an executor made; null without a mark */
export function uncordonPatch(node: Node): NodePatch | null {
  const mark = cordonMarkOf(node)
  if (mark === null) return null
  const isOwn = mark !== undefined && isOwnCordon(node, mark)
  return {
    metadata: { resourceVersion: node.metadata.resourceVersion, annotations: { [CORDON_ANNOTATION]: null } },
    ...(isOwn && { spec: { unschedulable: null } }),
  }
}

/** Whether the node has a mark, and is schedulable because a user made it so in mid-drain. */
export function isYieldedToUser(node: Node): boolean {
  return cordonMarkOf(node)?.cordoned === false && node.spec?.unschedulable !== true
}

/** Whether the node is unschedulable because of executors alone. A user who has cordoned it since, or also applies the field, keeps it. */
function isOwnCordon(node: Node, mark: CordonMark): boolean {
  if (!mark.cordoned || node.spec?.unschedulable !== true) return false
  const managers = cordonManagers(node)
  return managers.every((manager) => manager === fieldManagers.executor)
}

/** Names of the writers that have set `spec.unschedulable`, as the API server keeps them; empty if it does not. */
function cordonManagers({ metadata }: KubeObject): readonly string[] {
  const { managedFields = [] } = metadata as { readonly managedFields?: readonly ManagedFields[] }
  return managedFields.flatMap(({ manager = '', fieldsV1 }) => (fieldsV1?.['f:spec']?.['f:unschedulable'] === undefined ? [] : [manager]))
}

/** @see meta/v1 ManagedFieldsEntry */
interface ManagedFields {
  readonly manager?: string
  readonly fieldsV1?: { readonly 'f:spec'?: { readonly 'f:unschedulable'?: object } }
}

function markPatch(node: Node, mark: CordonMark): NodePatch {
  const cordons = mark.cordoned && node.spec?.unschedulable !== true
  return {
    metadata: { resourceVersion: node.metadata.resourceVersion, annotations: { [CORDON_ANNOTATION]: JSON.stringify(mark) } },
    ...(cordons && { spec: { unschedulable: true as const } }),
  }
}
