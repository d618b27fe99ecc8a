import type { Node, Pod } from '@tranche/kube-types'
import { matchesPlacement } from '../placement/node-eligibility.ts'
import { pinnedNode } from '../placement/node-of-pod.ts'
import { isTolerated } from '../placement/tolerations.ts'

/** Where a pod goes, or why it goes nowhere. */
export type BindingPlan =
  | { readonly kind: 'bind'; readonly nodeName: string }
  | { readonly kind: 'unschedulable'; readonly message: string }

/**
 * Decides on the node of a pod that names one in its required affinity. Resources are not counted. A pod that names none
 * finds no node here.
 *
 * @param nodeNamed looks a node up
 */
export function planBinding(pod: Pod, nodeNamed: (name: string) => Node | undefined): BindingPlan {
  const name = pinnedNode(pod.spec)
  if (name === undefined) return unschedulable('only pods that name their node in required node affinity are scheduled')
  const node = nodeNamed(name)
  if (node === undefined) return unschedulable(`node ${name} does not exist`)
  if (!matchesPlacement(pod.spec ?? {}, node)) return unschedulable(`node ${name} does not match the pod's node selector`)
  const hard = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute')
  const refused = hard.find((one) => !isTolerated(one, pod.spec?.tolerations ?? []))
  if (refused !== undefined) return unschedulable(`node ${name} has the untolerated taint ${refused.key}`)
  return { kind: 'bind', nodeName: name }
}

function unschedulable(message: string): BindingPlan {
  return { kind: 'unschedulable', message: `0 nodes are available: ${message}.` }
}
