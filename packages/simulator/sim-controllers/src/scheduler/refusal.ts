import type { Node, Pod } from '@tranche/kube-types'
import { matchesPlacement } from '../placement/node-eligibility.ts'
import { isTolerated } from '../placement/tolerations.ts'
import { allocatableOf, hasFreePorts, type NodeCapacity, shortagesOf } from './node-capacity.ts'
import { demandOf, specOf } from './pod-demand.ts'

/** Why a pod cannot go to a node, in the scheduler's words. */
export interface Refusal {
  readonly reasons: readonly string[]
  /** Deleting other pods would not help. */
  readonly isFinal: boolean
}

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

/** @returns undefined when nothing about the node and its pods excludes it */
export function refusalOf(pod: Pod, capacity: NodeCapacity): Refusal | undefined {
  const { node } = capacity
  const spec = specOf(pod)
  const tolerations = spec.tolerations ?? []
  if (isCordoned(node) && !isTolerated(UNSCHEDULABLE, tolerations)) return final('node(s) were unschedulable')
  if (spec.nodeName && spec.nodeName !== node.metadata.name) return final("node(s) didn't match the requested node name")
  const hard = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute')
  if (hard.some((taint) => !isTolerated(taint, tolerations))) return final('node(s) had untolerated taint(s)')
  if (!matchesPlacement(spec, node)) return final("node(s) didn't match Pod's node affinity/selector")
  if (!hasFreePorts(pod, capacity)) return { reasons: ["node(s) didn't have free ports for the requested pod ports"], isFinal: false }
  return refusalByResources(pod, capacity)
}

function refusalByResources(pod: Pod, capacity: NodeCapacity): Refusal | undefined {
  const shortages = shortagesOf(pod, capacity)
  if (shortages.length === 0) return undefined
  const reasons = shortages.map(({ resource }) => (resource === 'pods' ? 'Too many pods' : `Insufficient ${resource}`))
  const allocatable = allocatableOf(capacity.node)
  const isFinal = [...demandOf(pod).requests].some(([name, amount]) => amount > (allocatable.get(name) ?? 0))
  return { reasons, isFinal }
}

function final(reason: string): Refusal {
  return { reasons: [reason], isFinal: true }
}

function isCordoned(node: Node): boolean {
  return node.spec?.unschedulable === true
}
