import { HELD_REVISIONS_MAX, type HeldRevision, type Rollout } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations, sha256Hex } from '@tranche/kube-types'
import { templateText } from '../../release/view/discover-revisions.ts'

/** G12: the hold of the DaemonSet's present template; undefined where it is not held. */
export function heldTemplate(
  held: readonly HeldRevision[],
  { spec }: { readonly spec: { readonly template: object } },
): HeldRevision | undefined {
  if (held.length === 0) return undefined
  const digest = templateDigest(spec.template)
  return held.find((one) => one.digest === digest) ?? held.find((one) => one.digestWithRestoredConfig === digest)
}

/** G12: the recorded hold of a revision; undefined without one. */
export function heldRevision({ status }: Rollout, revision: string): HeldRevision | undefined {
  return status?.heldRevisions?.find((one) => one.revision === revision)
}

/** @returns the hashes of blocked revisions; one whose hash is unknown has none */
export function heldHashes(held: readonly HeldRevision[]): readonly string[] {
  return held.flatMap(({ revision }) => revision ?? [])
}

/** SHA-256 of a pod template in canonical JSON: equal for equal templates, whichever revision holds them. */
export function templateDigest(template: object): string {
  const known = digests.get(template)
  if (known !== undefined) return known
  const digest = sha256Hex(templateText(template))
  digests.set(template, digest)
  return digest
}

/** Templates are frozen and used in every pass. */
const digests = new WeakMap<object, string>()

/** Adds a hold; the same template once, and the oldest is dropped first. A retry lifts one hold, so no other one is for the same template. */
export function withHeld(held: readonly HeldRevision[], one: HeldRevision): readonly HeldRevision[] {
  const others = held.filter(({ digest }) => digest !== one.digest).map((other) => withoutRestored(other, [one.digest]))
  const known = others.flatMap(({ digest, digestWithRestoredConfig }) => [digest, digestWithRestoredConfig])
  return [...others, withoutRestored(one, known)].slice(-HELD_REVISIONS_MAX)
}

/** The hold, for its own template alone if another one is for the template with restored config. */
function withoutRestored(held: HeldRevision, digests: readonly (string | undefined)[]): HeldRevision {
  const { digestWithRestoredConfig: restored, ...alone } = held
  return restored !== undefined && digests.includes(restored) ? alone : held
}

/** Adds the hold of a version that is rolled back to the stable revision. That one is held no longer, whichever hash it has by now. */
export function withRolledBack(
  { rollout }: { readonly rollout: Rollout },
  held: readonly HeldRevision[],
  { one, stable }: { readonly one: HeldRevision; readonly stable: string | undefined },
): readonly HeldRevision[] {
  const isStable = ({ revision, digest }: HeldRevision): boolean => revision === stable || digest === rollout.status?.stableDigest
  return withHeld(isStable(one) ? held : held.filter((other) => !isStable(other)), one)
}

/** Replaces the hold of the same template, in its place. */
export function replaceHeld(held: readonly HeldRevision[], one: HeldRevision): readonly HeldRevision[] {
  return held.map((other) => (other.digest === one.digest ? one : other))
}

/** Removes the holds of a revision. */
export function withoutHeld(held: readonly HeldRevision[], revision: string): readonly HeldRevision[] {
  return held.filter((one) => one.revision !== revision)
}

/**
 * Updates a hold for the present template. A recreated revision gets its new name. A template that was not reverted by now
 * will not be: a user has applied another one.
 *
 * @param held the hold of the DaemonSet's present template
 */
export function heldAsSeen(
  all: readonly HeldRevision[],
  daemonSet: DaemonSet,
  { held, revision }: { readonly held: HeldRevision | undefined; readonly revision: string },
): readonly HeldRevision[] {
  return all.map((one) => {
    if (one === held) return one.revision === revision ? one : { ...one, revision }
    return one.reverted === false ? revertOver(one, daemonSet) : one
  })
}

/** Whether the template was reverted for this hold, whatever was applied since. */
export function isReverted(daemonSet: DaemonSet, held: HeldRevision): boolean {
  return held.reverted !== false || isMarked(daemonSet, held)
}

/** The stable template was restored, or need not be any more; a repeated revert is counted. */
export function revertOver(held: HeldRevision, daemonSet: DaemonSet): HeldRevision {
  const again = held.revertAt !== undefined && isMarked(daemonSet, held) ? { reverts: (held.reverts ?? 0) + 1 } : {}
  return { ...held, ...again, reverted: true }
}

/** Mark of a revert; different for each time that it is due. */
export function revertMark({ at = '', revertAt }: HeldRevision): string {
  return revertAt ?? at
}

function isMarked({ metadata }: DaemonSet, held: HeldRevision): boolean {
  return metadata.annotations?.[daemonSetAnnotations.reverted] === revertMark(held)
}
