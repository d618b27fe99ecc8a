import type { Pod } from '@tranche/kube-types'

/** Pods for which room is being made on a node by preemption. */
export interface Nominations {
  add(pod: Pod, nodeName: string): void
  /** The pod is bound or gone. */
  delete(pod: Pod): void
  /** @returns pods nominated to this node */
  on(nodeName: string): readonly Pod[]
}

/** @returns empty nominations */
export function createNominations(): Nominations {
  const byNode = new Map<string, Map<string, Pod>>()
  return {
    add(pod, nodeName) {
      let promised = byNode.get(nodeName)
      if (promised === undefined) byNode.set(nodeName, (promised = new Map()))
      promised.set(pod.metadata.uid, pod)
    },
    delete({ metadata }) {
      for (const promised of byNode.values()) promised.delete(metadata.uid)
    },
    on: (nodeName) => [...(byNode.get(nodeName)?.values() ?? [])],
  }
}
