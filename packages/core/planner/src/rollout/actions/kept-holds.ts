import { HELD_REVISIONS_MAX, type HeldRevision, heldRevisionSchema, type Rollout, type RolloutStatus } from '@tranche/api-schema'
import { HELD_REVISIONS_ANNOTATION } from '@tranche/kube-types'
import { hasLostAnswers } from './answer-action.ts'
import { partsOfReleaseId } from '../release/release-id.ts'
import { jsonOrUndefined } from './json-or-undefined.ts'
import { recordedFailure } from './recorded-failure.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * The view with data kept elsewhere, where the status has lost it. A write of the Rollout under other
 * CustomResourceDefinitions drops our fields, and a backup may be restored without a status. Annotations keep blocked
 * revisions (G12), and the failure that stops a version (G9). The BatchRelease says which release runs, and so whose failure counts; where
 * it has lost that, too, the failure says it. A status that has its fields is used alone.
 *
 * @param endedIn returns the status of a release that has ended, and that keeps its BatchRelease for nodes left
 */
export function withMemory(view: RolloutView, endedIn: (view: RolloutView) => RolloutStatus | undefined): RolloutView {
  const { rollout } = view
  const { status } = rollout
  if (status !== undefined && !hasLostAnswers(rollout)) return view
  const heldRevisions = keptHolds(rollout)
  const failure = recordedFailure(rollout)
  const releaseGeneration = generationOfRelease(view) ?? generationIn(failure?.release)
  const ended = endedIn(view)
  if (heldRevisions.length === 0 && releaseGeneration === undefined && ended === undefined) return view
  const begun = ended ?? { phase: 'Initial', currentStepIndex: 0, currentStepState: '' }
  const kept = {
    ...(heldRevisions.length > 0 && { heldRevisions }),
    ...(releaseGeneration !== undefined && { releaseGeneration }),
    ...(failure !== undefined && { failure }),
  }
  return { ...view, rollout: { ...rollout, status: { ...(status ?? begun), ...kept } } }
}

/** Generation of the release that the BatchRelease was made for; undefined where the status describes another one. */
export function generationOfRelease({ rollout, release }: Pick<RolloutView, 'rollout' | 'release'>): number | undefined {
  const id = release?.spec.tranche?.release
  const { uid, revision } = partsOfReleaseId(id)
  const isSame = rollout.status === undefined || revision === rollout.status.canaryStatus?.canaryRevision
  return uid === rollout.metadata.uid && isSame ? generationIn(id) : undefined
}

function generationIn(id: string | undefined): number | undefined {
  const { generation } = partsOfReleaseId(id)
  return /^\d{1,15}$/.test(generation) ? Number(generation) : undefined
}

type Holds = Pick<RolloutStatus, 'heldRevisions'>

/** Whether the annotation must be written before the status: it always holds at least what the status does. */
export function mustKeepFirst(rollout: Rollout, { heldRevisions = [] }: Holds): boolean {
  const kept = new Set(keptHolds(rollout).map(({ digest }) => digest))
  return heldRevisions.some(({ digest }) => !kept.has(digest))
}

/** @returns the annotation's text; null: no annotation */
export function holdsText({ heldRevisions = [] }: Holds): string | null {
  if (heldRevisions.length === 0) return null
  // By the time this is read, the stable template was restored, or is no longer restored for this hold.
  return JSON.stringify(heldRevisions.map(({ digest, revision, reason, at }) => ({ digest, revision, reason, at })))
}

/** A user who may annotate the Rollout may write anything here: a list of other things is ignored, and so are excess entries. */
function keptHolds({ metadata }: Rollout): readonly HeldRevision[] {
  const list = heldRevisionSchema.array().safeParse(jsonOrUndefined(metadata.annotations?.[HELD_REVISIONS_ANNOTATION]))
  return list.success ? list.data.slice(-HELD_REVISIONS_MAX) : []
}
