import type { Node, PodPlacement } from '@tranche/kube-types'
import { isChanged } from './is-changed.ts'
import { matchesAllLabels, matchesNodeTerms } from './requirements.ts'
import { isTolerated, withAutomaticTolerations } from './tolerations.ts'

/** Whether a DaemonSet wants a pod on a node. `shouldRun` implies `shouldContinue`. */
export interface Eligibility {
  /** Whether a pod should be there. */
  readonly shouldRun: boolean
  /** Whether an existing pod may stay. */
  readonly shouldContinue: boolean
}

const yes: Eligibility = { shouldRun: true, shouldContinue: true }
const no: Eligibility = { shouldRun: false, shouldContinue: false }
const stay: Eligibility = { shouldRun: false, shouldContinue: true }

/**
 * Ignores conditions, resources, ports and `spec.unschedulable` itself; those are the scheduler's.
 *
 * @param placement `spec` of the DaemonSet's pod template
 * @see reference: node eligibility
 */
export function nodeEligibility(placement: PodPlacement, node: Node): Eligibility {
  if (placement.nodeName && placement.nodeName !== node.metadata.name) return no
  if (!matchesPlacement(placement, node)) return no
  const tolerations = withAutomaticTolerations(placement.tolerations ?? [], placement.hostNetwork === true)
  const refused = (node.spec?.taints ?? []).filter((taint) => isHard(taint.effect) && !isTolerated(taint, tolerations))
  if (refused.length === 0) return yes
  return refused.some((taint) => taint.effect === 'NoExecute') ? no : stay
}

/** @returns whether node selector and required node affinity of a pod match the node */
export function matchesPlacement(placement: PodPlacement, node: Node): boolean {
  if (!matchesAllLabels(placement.nodeSelector, node.metadata.labels)) return false
  const required = placement.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || matchesNodeTerms(required.nodeSelectorTerms ?? [], node)
}

/** @returns whether labels or taints of the node have changed, which decide which pods may run there */
export function isPlacingChanged(node: Node, before: Node): boolean {
  return isChanged(node.metadata.labels, before.metadata.labels) || isChanged(node.spec?.taints, before.spec?.taints, [])
}

function isHard(effect: string): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute'
}
