import { type Condition, DRAIN_CONDITION, DRAIN_REASON, type Node } from '@tranche/kube-types'
import { cordonMarkOf, type DrainedPermit, isMarkFor } from './cordon-mark.ts'

/** Strategic merge patch of the status of a node. The API server rejects it (409) if the node is no longer as it was read. */
export interface NodeStatusPatch {
  readonly metadata: { readonly resourceVersion: string }
  readonly status: { readonly conditions: readonly [object] }
}

/**
 * Decides how the condition `DrainInProgress` is set for a permit. The mark of the permit comes first, so that each condition of an executor
 * has a mark, or is left over.
 *
 * @param now RFC 3339
 * @returns null if the node has no mark of the permit, if another program has set the condition, or if nothing is to change
 */
export function drainConditionPatch(node: Node, drained: DrainedPermit, now: string): NodeStatusPatch | null {
  const mark = cordonMarkOf(node)
  if (mark === null || mark === undefined || !isMarkFor(mark, drained)) return null
  const present = conditionOf(node)
  if (present !== undefined && present.reason !== DRAIN_REASON) return null
  const wanted = { type: DRAIN_CONDITION, status: 'True', reason: DRAIN_REASON, message: textFor(drained) }
  if (present?.status === wanted.status && present.message === wanted.message) return null
  const lastTransitionTime = (present?.status === wanted.status ? present.lastTransitionTime : undefined) ?? now
  return patchOf(node, { ...wanted, lastHeartbeatTime: now, lastTransitionTime })
}

/** @returns the patch that removes the condition that an executor set; null without one */
export function noDrainConditionPatch(node: Node): NodeStatusPatch | null {
  return hasDrainCondition(node) ? patchOf(node, { $patch: 'delete', type: DRAIN_CONDITION }) : null
}

/** Whether the node has the condition, and an executor set it. */
export function hasDrainCondition(node: Node): boolean {
  return conditionOf(node)?.reason === DRAIN_REASON
}

function conditionOf({ status }: Node): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === DRAIN_CONDITION)
}

function textFor({ release }: DrainedPermit): string {
  return `BatchRelease ${release.namespace}/${release.name} drains the node`
}

function patchOf({ metadata }: Node, condition: object): NodeStatusPatch {
  return { metadata: { resourceVersion: metadata.resourceVersion }, status: { conditions: [condition] } }
}
