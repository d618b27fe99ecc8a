import type { Node, Pod } from '@tranche/kube-types'
import { hasFreePorts, isTolerated, matchesPlacement, capacityOf, shortagesOf, allocatableOf } from '@tranche/sim-controllers'

/** Reason why a kubelet rejects a pod that was bound to its node. */
export interface AdmissionRefusal {
  /** `OutOfcpu`, `NodeAffinity` and so on. */
  readonly reason: string
  readonly message: string
}

/**
 * Decides whether a kubelet accepts a pod. After a correct scheduling decision nothing is rejected. A pod that was bound manually, or by a
 * scheduler with an outdated view of the node, may not fit.
 *
 * @param others pods that run on the node
 * @returns undefined when the pod fits
 * @see pkg/kubelet/lifecycle, general predicates
 */
export function planAdmission(pod: Pod, node: Node, others: readonly Pod[]): AdmissionRefusal | undefined {
  const nodeCapacity = capacityOf(node, others)
  const known = allocatableOf(node)
  // Extended resources that the node does not have are ignored.
  const shortage = shortagesOf(pod, nodeCapacity).find(({ resource }) => !resource.includes('/') || known.has(resource))
  if (shortage !== undefined) {
    const { resource, requested, used, capacity } = shortage
    const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`
    return { reason: `OutOf${resource}`, message }
  }
  if (!matchesPlacement(pod.spec ?? {}, node)) return failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector")
  if (!hasFreePorts(pod, nodeCapacity)) return failed('NodePorts', "node(s) didn't have free ports for the requested pod ports")
  const driving = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
  if (driving.some((taint) => !isTolerated(taint, pod.spec?.tolerations ?? [])))
    return failed('TaintToleration', "node(s) had taints that the pod didn't tolerate")
  return undefined
}

function failed(predicate: string, why: string): AdmissionRefusal {
  return { reason: predicate, message: `Predicate ${predicate} failed: ${why}` }
}
