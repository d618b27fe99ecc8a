import type { DaemonSet } from '@tranche/kube-types'

/**
 * Whether two states of a DaemonSet differ only in the counts of its status, which lag behind the pods. Of the status, only the observed
 * generation is used.
 */
export function isSameButForCounts(previous: DaemonSet | undefined, current: DaemonSet | undefined): boolean {
  return (
    previous !== undefined &&
    current !== undefined &&
    previous.metadata.uid === current.metadata.uid &&
    previous.metadata.generation === current.metadata.generation &&
    previous.status?.observedGeneration === current.status?.observedGeneration &&
    JSON.stringify([previous.metadata.annotations, previous.metadata.labels]) ===
      JSON.stringify([current.metadata.annotations, current.metadata.labels])
  )
}
