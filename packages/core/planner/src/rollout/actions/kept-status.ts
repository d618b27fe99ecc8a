import {
  type AcceptedActions,
  type Failure,
  HELD_REVISIONS_MAX,
  type HeldRevision,
  heldRevisionSchema,
  type Rollout,
  type RolloutStatus,
} from '@tranche/api-schema'
import { daemonSetAnnotations, HELD_REVISIONS_ANNOTATION, parseTime, timeText } from '@tranche/kube-types'
import { hashOf } from '../../release/view/discover-revisions.ts'
import { hasLostAnswers } from './answer-action.ts'
import { generationOfReleaseId, partsOfReleaseId } from '../release/release-id.ts'
import { jsonOrUndefined } from '../view/json-or-undefined.ts'
import { failureInAnnotation } from '../release/failure-annotation.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * The view with data kept elsewhere, where the status has lost it. A write of the Rollout under other
 * CustomResourceDefinitions drops our fields, and a backup may be restored without a status. Annotations keep blocked
 * revisions (G12), and the failure that stops a version (G9). The BatchRelease says which release runs, and so whose failure counts, and which
 * retry was accepted; where it has lost that, too, the failure says it. A status that has its fields is used alone.
 *
 * @param endedIn returns the status of a release that has ended, and that keeps its BatchRelease for nodes left
 */
export function withMemory(view: RolloutView, endedIn: (view: RolloutView) => RolloutStatus | undefined): RolloutView {
  const { rollout } = view
  const { status } = rollout
  if (status !== undefined && !hasLostAnswers(rollout)) return withRestoredDigests(view)
  const kept = keptStatus(view)
  const ended = endedIn(view)
  if (Object.keys(kept).length === 0 && ended === undefined) return view
  const begun = ended ?? { phase: 'Initial', currentStepIndex: 0, currentStepState: '' }
  return { ...view, rollout: { ...rollout, status: { ...(status ?? begun), ...kept } } }
}

/** Definitions of an earlier version drop only `digestWithRestoredConfig` of a hold; the annotation still has it. */
function withRestoredDigests(view: RolloutView): RolloutView {
  const { status } = view.rollout
  const kept = new Map(keptHolds(view.rollout).map(({ digest, digestWithRestoredConfig }) => [digest, digestWithRestoredConfig]))
  const isLost = ({ digest, digestWithRestoredConfig }: HeldRevision): boolean =>
    digestWithRestoredConfig === undefined && kept.get(digest) !== undefined
  if (status?.heldRevisions?.some(isLost) !== true) return view
  const heldRevisions = status.heldRevisions.map((one) => (isLost(one) ? { ...one, digestWithRestoredConfig: kept.get(one.digest) } : one))
  return { ...view, rollout: { ...view.rollout, status: { ...status, heldRevisions } } }
}

type KeptStatus = Partial<Pick<RolloutStatus, 'heldRevisions' | 'releaseGeneration' | 'failure' | 'acceptedActions' | 'stableRevision'>>

function keptStatus(view: RolloutView): KeptStatus {
  const heldRevisions = keptHolds(view.rollout)
  const failure = failureInAnnotation(view)
  const releaseGeneration = generationOfRelease(view) ?? generationOfReleaseId(failure?.release)
  const acceptedActions = keptActions(view, failure)
  const stableRevision = revisionAtRest(view)
  return {
    ...(heldRevisions.length > 0 && { heldRevisions }),
    ...(releaseGeneration !== undefined && { releaseGeneration }),
    ...(failure !== undefined && { failure }),
    ...(Object.keys(acceptedActions).length > 0 && { acceptedActions }),
    ...(stableRevision !== undefined && { stableRevision }),
  }
}

/** Without the retry, a failure that came after it would count as lifted. Without the pause, its end would lift a failure that came during it. */
function keptActions(view: RolloutView, failure: Failure | undefined): AcceptedActions {
  const { rollout, release } = view
  if (rollout.status?.acceptedActions !== undefined) return rollout.status.acceptedActions
  const retry = generationOfRelease(view) === undefined ? failure?.retry : release?.spec.tranche?.retry
  const isPaused = failure?.at !== undefined && rollout.spec.strategy.paused === true
  return { ...(retry !== undefined && { retry }), ...(isPaused && { pause: { failure: failure.at, lifts: false } }) }
}

/** A release that has ended, and that Tranche made, made its revision the stable one. Otherwise the nodes that it left would name another. */
function revisionAtRest({ rollout: { metadata, status }, daemonSet, revisions }: RolloutView): string | undefined {
  const annotations = daemonSet?.metadata.annotations ?? {}
  if (status?.phase !== 'Healthy' || annotations[daemonSetAnnotations.rollout] !== metadata.name) return undefined
  if (daemonSetAnnotations.inProgressing in annotations || daemonSetAnnotations.frozen in annotations) return undefined
  const revision = status.canaryStatus?.canaryRevision
  return revisions.some((one) => hashOf(one) === revision) ? revision : undefined
}

/** Generation of the release that the BatchRelease was made for; undefined where the status describes another one. */
export function generationOfRelease({ rollout, release }: Pick<RolloutView, 'rollout' | 'release'>): number | undefined {
  const id = release?.spec.tranche?.release
  const { uid, revision } = partsOfReleaseId(id)
  const isSame = rollout.status === undefined || revision === rollout.status.canaryStatus?.canaryRevision
  return uid === rollout.metadata.uid && isSame ? generationOfReleaseId(id) : undefined
}

type Holds = Pick<RolloutStatus, 'heldRevisions'>

/** Whether the annotation must be written before the status: it always holds at least what the status does. */
export function mustKeepHoldsFirst(rollout: Rollout, { heldRevisions = [] }: Holds): boolean {
  const textOf = ({ digest, digestWithRestoredConfig = '' }: HeldRevision): string => `${digest} ${digestWithRestoredConfig}`
  const kept = new Set(keptHolds(rollout).map(textOf))
  return heldRevisions.some((one) => !kept.has(textOf(one)))
}

/** @returns the annotation's text; null: no annotation */
export function holdsText({ heldRevisions = [] }: Holds): string | null {
  if (heldRevisions.length === 0) return null
  // By the time this is read, the stable template was restored, or is no longer restored for this hold.
  return JSON.stringify(heldRevisions.map(toKeptHold))
}

function toKeptHold({ digest, revision, digestWithRestoredConfig, reason, at }: HeldRevision): HeldRevision {
  return { digest, revision, digestWithRestoredConfig, reason, at }
}

const copiesSchema = heldRevisionSchema
  .pick({ digest: true, revision: true, digestWithRestoredConfig: true, reason: true, at: true })
  .array()

/** A user who may annotate the Rollout may write anything here: a list of other things is ignored, and so are excess entries. */
function keptHolds({ metadata }: Rollout): readonly HeldRevision[] {
  const list = copiesSchema.safeParse(jsonOrUndefined(metadata.annotations?.[HELD_REVISIONS_ANNOTATION]))
  return list.success ? list.data.slice(-HELD_REVISIONS_MAX).map(withValidTime) : []
}

/** API servers reject a status with some texts that JavaScript reads as a time, such as the 30th of February. */
function withValidTime({ at, ...hold }: HeldRevision): HeldRevision {
  const atMs = parseTime(at)
  return atMs === null ? hold : { ...hold, at: timeText(atMs) }
}
