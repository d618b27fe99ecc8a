import { keyOf, keyText, type Pod } from '@tranche/kube-types'
import { pinnedNode } from '../placement/node-of-pod.ts'
import { hasPodRules } from './pod-affinity.ts'

/** Unschedulable pods, and the events that may change that. */
export interface PendingPods {
  add(pod: Pod): void
  delete(pod: Pod): void
  /** @returns keys of pods to retry after a change of this node */
  for(nodeName: string): readonly string[]
  /** @returns keys of pods to retry after changes of any pods */
  forPods(): readonly string[]
}

const ANYWHERE = ''

/** @returns an empty collection */
export function createPendingPods(): PendingPods {
  /** Keys by the single node that a pod may run on. */
  const byNode = new Map<string, Set<string>>()
  const byPods = new Set<string>()

  return {
    add(pod) {
      const key = keyText(keyOf(pod))
      const nodeName = pinnedNode(pod.spec) ?? ANYWHERE
      let keys = byNode.get(nodeName)
      if (keys === undefined) byNode.set(nodeName, (keys = new Set()))
      keys.add(key)
      if (hasPodRules(pod)) byPods.add(key)
    },
    delete(pod) {
      const key = keyText(keyOf(pod))
      const nodeName = pinnedNode(pod.spec) ?? ANYWHERE
      const keys = byNode.get(nodeName)
      keys?.delete(key)
      if (keys?.size === 0) byNode.delete(nodeName)
      byPods.delete(key)
    },
    for: (nodeName) => [...(byNode.get(nodeName) ?? []), ...(byNode.get(ANYWHERE) ?? [])],
    forPods: () => [...byPods],
  }
}
