import { HELD_REVISIONS_MAX, type HeldRevision, heldRevisionSchema, type Rollout, type RolloutStatus } from '@tranche/api-schema'
import { HELD_REVISIONS_ANNOTATION } from '@tranche/kube-types'
import { hasLostAnswers } from './answer-action.ts'
import { partsOfReleaseId } from './release-spec.ts'
import type { RolloutView } from './rollout-view.ts'

/**
 * The view with what is remembered elsewhere, where the status has lost it: any write of the Rollout under other CustomResourceDefinitions
 * drops our fields, and a backup may come back without a status. Held revisions are in the annotation (G12); which release it is that runs,
 * and so whose failure stands, says its BatchRelease (G9). A status that has its fields counts alone.
 */
export function withMemory(view: RolloutView): RolloutView {
  const { rollout } = view
  const { status } = rollout
  if (status !== undefined && !hasLostAnswers(rollout)) return view
  const heldRevisions = keptHolds(rollout)
  const releaseGeneration = generationOfRelease(view)
  if (heldRevisions.length === 0 && releaseGeneration === undefined) return view
  const begun = { phase: 'Initial', currentStepIndex: 0, currentStepState: '' } as const
  const kept = { ...(heldRevisions.length > 0 && { heldRevisions }), ...(releaseGeneration !== undefined && { releaseGeneration }) }
  return { ...view, rollout: { ...rollout, status: { ...(status ?? begun), ...kept } } }
}

/** Of the release that the BatchRelease was made for; undefined where that is another one than the status speaks of. */
function generationOfRelease({ rollout, release }: RolloutView): number | undefined {
  const { uid, revision, generation } = partsOfReleaseId(release?.spec.tranche?.release)
  const isOurs = uid === rollout.metadata.uid && revision === rollout.status?.canaryStatus?.canaryRevision
  return isOurs && generation !== '' ? Number(generation) : undefined
}

type Holds = Pick<RolloutStatus, 'heldRevisions'>

/** Whether the annotation has to be written before the status: it remembers at least what the status does, at every moment. */
export function mustKeepFirst(rollout: Rollout, { heldRevisions = [] }: Holds): boolean {
  const kept = new Set(keptHolds(rollout).map(({ digest }) => digest))
  return heldRevisions.some(({ digest }) => !kept.has(digest))
}

/** @returns what the annotation is to be; null: there should be none */
export function holdsText({ heldRevisions = [] }: Holds): string | null {
  if (heldRevisions.length === 0) return null
  // The stable template was put back by the time that this is read, or is not for the sake of this hold any more.
  return JSON.stringify(heldRevisions.map(({ digest, revision, reason, at }) => ({ digest, revision, reason, at })))
}

/** A user who may annotate the Rollout may write anything there: a list that is not one of held revisions is ignored, and so is its excess. */
function keptHolds({ metadata }: Rollout): readonly HeldRevision[] {
  const list = heldRevisionSchema.array().safeParse(jsonOf(metadata.annotations?.[HELD_REVISIONS_ANNOTATION]))
  return list.success ? list.data.slice(-HELD_REVISIONS_MAX) : []
}

function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
