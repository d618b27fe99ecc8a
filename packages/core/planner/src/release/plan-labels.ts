import type { FlightRecord } from '@tranche/api-schema'
import { begunAt } from '@tranche/fence'
import { type FleetPod, isCreatedSince, keptPerBlock } from '@tranche/fleet'
import { LEAKED_LABEL, ROLLOUT_BATCH_ID_LABEL, ROLLOUT_ID_LABEL, parseTime } from '@tranche/kube-types'
import type { BatchReleasePlan, PodLabels } from './view/batch-release-plan.ts'
import { hashOf } from './view/discover-revisions.ts'
import { isFinalized } from './view/is-finalized.ts'
import type { ReleaseView } from './view/release-view.ts'

/** Maximum number of pods labelled in one pass, so that other writes are not delayed. */
const LABELS_PER_PASS = 20

/**
 * F13: only pods of the record's revision without a permit get the release labels: a label changes `resourceVersion` and
 * would make a permit dead. A pod keeps its first batch number, even where the release gets another id.
 *
 * The labels include the mark of a *leaked* pod, which came up on the revision without a deletion by Tranche. Its node is new, or
 * another client deleted or evicted the earlier pod. A pod has leaked under these conditions:
 * - it is of the revision and not Ready;
 * - its node has no permit: a permit exists before its pod is deleted, and leaves the record only when the node has an
 *   available pod;
 * - it is not older than the release.
 * The record is read live first, and the mark tests the pod's version. The pod is still not Ready then, so no Tranche update
 * is ever counted. The mark stays on the pod, so the count survives every process. A pod that became Ready while no
 * controller was running is not counted.
 */
export function planLabels(view: ReleaseView): BatchReleasePlan | null {
  const { release, fleet } = view
  const record = release.status?.flight
  const { rolloutID } = release.spec.releasePlan
  if (record === undefined || rolloutID === undefined || rolloutID === '' || !isLabelling(view, record)) return null
  const permitted = new Set(record.permits.map(({ podUid }) => podUid))
  const nodes = new Set(record.permits.map(({ node }) => node))
  const pods = unlabelledPerBlock(fleet, { revision: record.revision, rolloutID })
    .flat()
    .filter(({ uid }) => !permitted.has(uid) && !view.labelled.has(uid))
    .slice(0, LABELS_PER_PASS)
    .map((pod) => {
      const isOurs = isOfThisRelease(view, record, pod)
      return isOurs && isLabelled(pod) ? renamedLabels(view, pod) : labelsOf(view, pod, !pod.ready && !nodes.has(pod.node) && isOurs)
    })
  if (pods.length === 0) return null
  return { kind: 'labelPods', pods, confirm: pods.some(({ resourceVersion }) => resourceVersion !== null) }
}

/** Stopped releases label, too: a pod that comes up meanwhile has leaked. */
function isLabelling(view: ReleaseView, record: FlightRecord): boolean {
  if (record.state === 'open') return true
  const { spec, metadata } = view.release
  const isOver = metadata.deletionTimestamp !== undefined || isFinalized(view)
  return record.state === 'stopped' && !isOver && record.revision === spec.tranche?.canaryRevision
}

/** How much older than its release (ms) a revision of the release may be: the native controller is fast. */
const MADE_FOR_IT_MS = 60_000

/** Pods of a revision that was stable before may be older than the release, however new the revision is. */
function isOfThisRelease({ release, revisions }: ReleaseView, { revision }: FlightRecord, pod: FleetPod): boolean {
  const begun = begunAt(release)
  const begunMs = parseTime(begun)
  if (begunMs === null) return false
  if (isCreatedSince(pod, begun)) return true
  const { stableRevision, formerRevisions = [] } = release.spec.tranche ?? {}
  if (revision === stableRevision || formerRevisions.includes(revision)) return false
  const made = revisions.find((one) => hashOf(one) === revision)?.metadata.creationTimestamp
  return (parseTime(made) ?? 0) >= begunMs - MADE_FOR_IT_MS
}

function labelsOf({ release }: ReleaseView, pod: FleetPod, hasLeaked: boolean): PodLabels {
  const { rolloutID = '', batchPartition, batches } = release.spec.releasePlan
  const batchId = String((batchPartition ?? (batches?.length ?? 1) - 1) + 1)
  const { namespace, name, uid, node, resourceVersion } = pod
  const labels = { [ROLLOUT_ID_LABEL]: rolloutID, [ROLLOUT_BATCH_ID_LABEL]: batchId }
  const leaked = hasLeaked ? { [LEAKED_LABEL]: rolloutID } : {}
  return { namespace, name, uid, node, resourceVersion: hasLeaked ? resourceVersion : null, labels: { ...labels, ...leaked } }
}

function isLabelled({ rolloutId, rolloutBatchId }: FleetPod): boolean {
  return rolloutId !== undefined && rolloutBatchId !== undefined
}

/** The release got another id: its pods keep their batch number and their leaked mark. */
function renamedLabels({ release }: ReleaseView, pod: FleetPod): PodLabels {
  const { rolloutID = '' } = release.spec.releasePlan
  const { namespace, name, uid, node, rolloutId, leakedIn } = pod
  const leaked = leakedIn !== undefined && leakedIn === rolloutId ? { [LEAKED_LABEL]: rolloutID } : {}
  return { namespace, name, uid, node, resourceVersion: null, labels: { [ROLLOUT_ID_LABEL]: rolloutID, ...leaked } }
}

const unlabelledPerBlock = keptPerBlock<{ readonly revision: string; readonly rolloutID: string }, readonly FleetPod[]>({
  count: (block, { revision, rolloutID }) =>
    block.flatMap(({ pods }) => pods.filter((pod) => pod.hash === revision && !pod.terminating && pod.rolloutId !== rolloutID)),
  holds: (known, asked) => known.revision === asked.revision && known.rolloutID === asked.rolloutID,
})
