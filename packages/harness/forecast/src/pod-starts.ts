import { type Pod, REVISION_HASH_LABEL, ROLLOUT_BATCH_ID_LABEL, ROLLOUT_ID_LABEL, parseTime, valueIn } from '@tranche/kube-types'

/** Start of a pod, from its status. Times are epoch milliseconds cut to whole seconds, as Kubernetes stores them. */
export interface PodStart {
  readonly node: string
  /** Identifies pods of the same batch of a release; of the same revision when they belong to no release. */
  readonly batch: string
  /** Whether its labels assign it to a batch of a release. */
  readonly isReleased: boolean
  readonly createdMs: number
  /** Time at which the kubelet accepted the pod; its creation time when the status lacks that. */
  readonly takenUpMs: number
  readonly readyMs: number
}

/**
 * @returns undefined when the start cannot be measured: the pod is not Ready, is being deleted, or has no node. Restarted containers count
 * too, because their Ready condition belongs to a later start
 */
export function startOf({ metadata, spec, status }: Pod): PodStart | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status !== 'True' || metadata.deletionTimestamp !== undefined || spec?.nodeName === undefined) return undefined
  if ((status?.containerStatuses ?? []).some(({ restartCount = 0 }) => restartCount > 0)) return undefined
  const { startTime } = (status ?? {}) as { readonly startTime?: string }
  const [createdMs, readyMs, startMs] = [momentOf(metadata.creationTimestamp), momentOf(ready.lastTransitionTime), momentOf(startTime)]
  if (Number.isNaN(createdMs) || !(readyMs >= createdMs)) return undefined
  const takenUpMs = startMs >= createdMs && startMs <= readyMs ? startMs : createdMs
  const labels = metadata.labels ?? {}
  const batch = [REVISION_HASH_LABEL, ROLLOUT_ID_LABEL, ROLLOUT_BATCH_ID_LABEL].map((label) => valueIn(labels, label) ?? '').join(' ')
  return { node: spec.nodeName, batch, isReleased: ROLLOUT_BATCH_ID_LABEL in labels, createdMs, takenUpMs, readyMs }
}

/** @returns NaN when absent */
function momentOf(text: string | undefined): number {
  return parseTime(text) ?? Number.NaN
}

/** @returns for each start, the number of other starts that overlap with it */
export function companyOf(starts: readonly PodStart[]): (start: PodStart) => number {
  const created = starts.map(({ createdMs }) => createdMs).toSorted((a, b) => a - b)
  const ready = starts.map(({ readyMs }) => readyMs).toSorted((a, b) => a - b)
  // All that had started by its end, minus those that had ended before it started.
  return ({ createdMs, readyMs }) => countBelow(created, readyMs + 1) - countBelow(ready, createdMs) - 1
}

/**
 * @param sorted in ascending order
 * @returns number of items below the value
 */
export function countBelow(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
