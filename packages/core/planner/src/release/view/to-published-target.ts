import { daemonSetAnnotations, type DaemonSet } from '@tranche/kube-types'
import { strategyOf } from './daemon-set-patch.ts'
import { controlledBy } from './release-view.ts'
import type { PublishedTarget } from '@tranche/fence'

/** Reads the published target from a DaemonSet (rule F1). */
export function toPublishedTarget(daemonSet: DaemonSet): PublishedTarget {
  const annotations = daemonSet.metadata.annotations ?? {}
  const partition = annotations[daemonSetAnnotations.partition]
  return {
    uid: daemonSet.metadata.uid,
    generation: daemonSet.metadata.generation ?? 0,
    observedGeneration: daemonSet.status?.observedGeneration ?? 0,
    controlledBy: controlledBy(daemonSet)?.uid,
    canaryRevision: annotations[daemonSetAnnotations.canaryRevision],
    stableRevision: annotations[daemonSetAnnotations.stableRevision],
    partition: partition !== undefined && /^\d+$/.test(partition) ? Number(partition) : undefined,
    paused: daemonSetAnnotations.paused in annotations,
    strategy: strategyOf(daemonSet),
    inProgress: daemonSetAnnotations.inProgressing in annotations,
    minReadySeconds: daemonSet.spec.minReadySeconds ?? 0,
  }
}
