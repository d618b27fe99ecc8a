import { ROLLOUT_BATCH_ID_LABEL, ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import type { BatchReleasePlan } from './batch-release-plan.ts'
import type { ReleaseView } from './release-view.ts'

/** Most pods labelled in one pass, so that other writes are not kept waiting. */
const LABELS_PER_PASS = 20

/**
 * F13: only pods of the record's revision that have no permit get the release labels; a label moves `resourceVersion`
 * and would kill a permit. A pod keeps the batch number it was given first.
 */
export function planLabels(view: ReleaseView): BatchReleasePlan | null {
  const { release, fleet } = view
  const record = release.status?.flight
  const { rolloutID, batchPartition } = release.spec.releasePlan
  if (record === undefined || record.state !== 'open' || rolloutID === undefined || rolloutID === '') return null
  const permitted = new Set(record.permits.map(({ podUid }) => podUid))
  const batchId = String((batchPartition ?? (release.spec.releasePlan.batches?.length ?? 1) - 1) + 1)
  const pods = fleet.nodes
    .flatMap((node) => node.pods)
    .filter(
      (pod) =>
        pod.hash === record.revision &&
        !pod.terminating &&
        !permitted.has(pod.uid) &&
        !view.labelled.has(pod.uid) &&
        pod.rolloutId !== rolloutID,
    )
    .slice(0, LABELS_PER_PASS)
    .map(({ namespace, name, uid }) => ({
      namespace,
      name,
      uid,
      labels: { [ROLLOUT_ID_LABEL]: rolloutID, [ROLLOUT_BATCH_ID_LABEL]: batchId },
    }))
  return pods.length === 0 ? null : { kind: 'labelPods', pods }
}
