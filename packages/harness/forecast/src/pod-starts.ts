import { type Pod, REVISION_HASH_LABEL, ROLLOUT_BATCH_ID_LABEL, ROLLOUT_ID_LABEL } from '@tranche/kube-types'

/** One start, as its pod tells it. Moments are epoch milliseconds of whole seconds, as Kubernetes keeps them. */
export interface PodStart {
  readonly node: string
  /** The same for pods that came up in one batch of one release; of no release, of one revision. */
  readonly batch: string
  /** In the batch of a release, by its labels. */
  readonly isReleased: boolean
  readonly createdMs: number
  /** When its kubelet took it up; its creation, where the pod does not say. */
  readonly takenUpMs: number
  readonly readyMs: number
}

/**
 * @returns undefined where the pod does not tell: it is not Ready, it is being deleted, it has no node, or its containers were started
 *   again, so that its Ready condition is of a later start
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
  const batch = [REVISION_HASH_LABEL, ROLLOUT_ID_LABEL, ROLLOUT_BATCH_ID_LABEL].map((label) => labels[label] ?? '').join(' ')
  return { node: spec.nodeName, batch, isReleased: ROLLOUT_BATCH_ID_LABEL in labels, createdMs, takenUpMs, readyMs }
}

/** @returns NaN where there is none */
function momentOf(text: string | undefined): number {
  return Date.parse(text ?? '')
}

/** @returns how many others were starting at some time while one did */
export function companyOf(starts: readonly PodStart[]): (start: PodStart) => number {
  const created = starts.map(({ createdMs }) => createdMs).toSorted((a, b) => a - b)
  const ready = starts.map(({ readyMs }) => readyMs).toSorted((a, b) => a - b)
  // All that had begun by its end, but those that had ended before it began.
  return ({ createdMs, readyMs }) => countBelow(created, readyMs + 1) - countBelow(ready, createdMs) - 1
}

/**
 * @param sorted ascending
 * @returns how many are less than the value
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
