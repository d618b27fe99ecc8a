import type { Pod } from '@tranche/kube-types'

/** Which pods have been promised the room that is being made on a node. */
export interface Nominations {
  add(pod: Pod, nodeName: string): void
  /** The pod has a node, or is gone. */
  delete(pod: Pod): void
  /** @returns the pods that wait for room on this node */
  on(nodeName: string): readonly Pod[]
}

/** @returns no nominations yet */
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
