import type { DemandingPod, Shortage } from './room.ts'

/**
 * Names no pod of another namespace: who may read a release of one namespace may not see the pods of others.
 *
 * @param namespace that of the DaemonSet
 * @returns the shortages in words: `cpu: 500m requested, 200m of 4 free; TCP port 9100 is taken by a pod of another namespace`
 */
export function shortageText(shortages: readonly Shortage[], namespace: string): string {
  return shortages
    .map((shortage) =>
      shortage.kind === 'resource'
        ? `${shortage.resource}: ${shortage.requested} requested, ${shortage.free} of ${shortage.allocatable} free`
        : `${shortage.protocol} port ${shortage.port} is taken by ${podText(shortage.takenBy, namespace)}`,
    )
    .join('; ')
}

function podText(pod: Pick<DemandingPod, 'namespace' | 'name'>, namespace: string): string {
  return pod.namespace === namespace ? `pod ${pod.name}` : 'a pod of another namespace'
}
