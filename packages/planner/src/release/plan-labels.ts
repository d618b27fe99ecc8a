import type { BatchRelease } from '@tranche/api-schema'
import { type FleetPod, keptPerBlock } from '@tranche/fleet'
import { ROLLOUT_BATCH_ID_LABEL, ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import type { BatchReleasePlan } from './batch-release-plan.ts'
import type { ReleaseView } from './release-view.ts'

/** Most pods labelled in one pass, so that other writes are not kept waiting. */
const LABELS_PER_PASS = 20

/**
 * F13: only pods of the record's revision that have no permit get the release labels; a label moves `resourceVersion`
 * and would kill a permit. A pod keeps the batch number it was given first, also when its owner gives the release another
 * id in the middle of it.
 */
export function planLabels(view: ReleaseView): BatchReleasePlan | null {
  const { release, fleet } = view
  const record = release.status?.flight
  const { rolloutID, batchPartition } = release.spec.releasePlan
  if (record === undefined || record.state !== 'open' || rolloutID === undefined || rolloutID === '') return null
  const permitted = new Set(record.permits.map(({ podUid }) => podUid))
  const batchId = String((batchPartition ?? (release.spec.releasePlan.batches?.length ?? 1) - 1) + 1)
  const formerId = formerIdOf(release)
  const pods = unlabelledPerBlock(fleet, { revision: record.revision, rolloutID })
    .flat()
    .filter(({ uid }) => !permitted.has(uid) && !view.labelled.has(uid))
    .slice(0, LABELS_PER_PASS)
    .map(({ namespace, name, uid, node, rolloutId, rolloutBatchId }) => ({
      namespace,
      name,
      uid,
      node,
      labels: {
        [ROLLOUT_ID_LABEL]: rolloutID,
        [ROLLOUT_BATCH_ID_LABEL]: rolloutId !== undefined && rolloutId === formerId ? (rolloutBatchId ?? batchId) : batchId,
      },
    }))
  return pods.length === 0 ? null : { kind: 'labelPods', pods }
}

/** What this very release was called before its owner called it something else. */
function formerIdOf({ spec, status }: BatchRelease): string | undefined {
  return status?.observedRelease === (spec.tranche?.release ?? '') ? status.observedRolloutID : undefined
}

const unlabelledPerBlock = keptPerBlock<{ readonly revision: string; readonly rolloutID: string }, readonly FleetPod[]>({
  count: (block, { revision, rolloutID }) =>
    block.flatMap(({ pods }) => pods.filter((pod) => pod.hash === revision && !pod.terminating && pod.rolloutId !== rolloutID)),
  holds: (known, asked) => known.revision === asked.revision && known.rolloutID === asked.rolloutID,
})
