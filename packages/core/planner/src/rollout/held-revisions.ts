import { HELD_REVISIONS_MAX, type HeldRevision, type Rollout } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations, sha256Hex } from '@tranche/kube-types'
import { templateText } from '../release/discover-revisions.ts'

/** G12: what is held of the template that the DaemonSet has now; undefined where it is not held. */
export function heldTemplate(
  held: readonly HeldRevision[],
  { spec }: { readonly spec: { readonly template: object } },
): HeldRevision | undefined {
  if (held.length === 0) return undefined
  const digest = templateDigest(spec.template)
  return held.find((one) => one.digest === digest)
}

/** G12: what the status remembers of a revision that was taken back; undefined where nobody has. */
export function heldRevision({ status }: Rollout, revision: string): HeldRevision | undefined {
  return status?.heldRevisions?.find((one) => one.revision === revision)
}

/** The SHA-256 of a pod template in canonical JSON: the same for the same template, whichever revision holds it. */
export function templateDigest(template: object): string {
  const known = digests.get(template)
  if (known !== undefined) return known
  const digest = sha256Hex(templateText(template))
  digests.set(template, digest)
  return digest
}

/** Templates are frozen and asked for in every pass. */
const digests = new WeakMap<object, string>()

/** What is remembered of the DaemonSet's template when it is taken back now. */
export function toHeldRevision({ nowMs }: { readonly nowMs: number }, { spec }: DaemonSet, revision: string): HeldRevision {
  return { digest: templateDigest(spec.template), revision, reason: 'Aborted', at: new Date(nowMs).toISOString(), reverted: false }
}

/** Remembers one more; the same template once, and the oldest goes first. */
export function withHeld(held: readonly HeldRevision[], one: HeldRevision): readonly HeldRevision[] {
  return [...held.filter(({ digest }) => digest !== one.digest), one].slice(-HELD_REVISIONS_MAX)
}

/** Remembers the same template in other words, in its place. */
export function replaceHeld(held: readonly HeldRevision[], one: HeldRevision): readonly HeldRevision[] {
  return held.map((other) => (other.digest === one.digest ? one : other))
}

/** Forgets the templates of a revision. */
export function withoutHeld(held: readonly HeldRevision[], revision: string): readonly HeldRevision[] {
  return held.filter((one) => one.revision !== revision)
}

/**
 * What is remembered once a template was seen: a revision that was made anew has its new name, and a template that was not
 * put back for its sake by now will not be, for somebody has applied another one.
 *
 * @param held the template that the DaemonSet has now
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

/** Whether the template was put back for this hold, whatever was applied since. */
export function isReverted(daemonSet: DaemonSet, held: HeldRevision): boolean {
  return held.reverted !== false || isMarked(daemonSet, held)
}

/** The stable template was put back, or need not be any more; it is counted where it was done once more. */
export function revertOver(held: HeldRevision, daemonSet: DaemonSet): HeldRevision {
  const again = held.revertAt !== undefined && isMarked(daemonSet, held) ? { reverts: (held.reverts ?? 0) + 1 } : {}
  return { ...held, ...again, reverted: true }
}

/** By what a template that was put back is known: another one each time that it is to be done. */
export function revertMark({ at = '', revertAt }: HeldRevision): string {
  return revertAt ?? at
}

function isMarked({ metadata }: DaemonSet, held: HeldRevision): boolean {
  return metadata.annotations?.[daemonSetAnnotations.reverted] === revertMark(held)
}
