import type { RolloutStatus } from '@tranche/api-schema'
import type { ControllerRevision } from '@tranche/kube-types'
import { hashOf, templateOf, templateText } from '../../release/view/discover-revisions.ts'
import { plainTemplate } from '../../release/view/stable-template.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { templateDigest } from '../held/held-revisions.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Digests in a status: of the stable template, and of the one that may become stable. */
export type StableRecord = Pick<RolloutStatus, 'stableDigest' | 'stableMismatch' | 'canaryDigest'>

/**
 * Rule F15: digest of the template that became stable, and the ControllerRevision that holds another one in its place.
 *
 * The digest comes from the DaemonSet's own template where the revision holds that one. While the Rollout is in control, a
 * stable revision known only by its hash keeps its recorded digest: a ControllerRevision written under a new hash is never
 * restored. A canary that becomes stable during a release, because every node runs it when the next version arrives, keeps
 * the digest of the DaemonSet's template while it was the canary. Only two statuses take the digest from the history: the
 * first one after a previous version, and the first one after the Rollout was disabled.
 */
export function stableRecord(view: RolloutView, { stableRevision, canary }: Pick<RolloutState, 'stableRevision' | 'canary'>): StableRecord {
  const before = view.rollout.status
  const canaryDigest = digestOfCanary(view, canary.canaryRevision)
  const ofCanary = canaryDigest !== undefined && { canaryDigest }
  if (stableRevision === undefined) return { ...ofCanary }
  const held = view.revisions.filter((one) => hashOf(one) === stableRevision)
  const stableDigest = digestFor(before, stableRevision, {
    present: presentDigest(view, stableRevision),
    inHistory: held.map(plainTemplate).find((template) => template !== null),
  })
  const mismatch = stableDigest === undefined ? undefined : held.find((one) => !isTemplate(one, stableDigest))
  return {
    ...(stableDigest !== undefined && { stableDigest }),
    ...(mismatch !== undefined && { stableMismatch: mismatch.metadata.name }),
    ...ofCanary,
  }
}

/** @returns the digest of the DaemonSet's template where it is of the revision; undefined otherwise */
function presentDigest({ daemonSet, revisions }: RolloutView, revision: string): string | undefined {
  const present = daemonSet?.spec.template
  const isPresent = revisions.some((one) => hashOf(one) === revision && templateText(templateOf(one)) === templateText(present))
  return present !== undefined && isPresent ? templateDigest(present) : undefined
}

function digestOfCanary(view: RolloutView, canaryRevision: string): string | undefined {
  const before = view.rollout.status
  const kept = before?.canaryStatus?.canaryRevision === canaryRevision ? before.canaryDigest : undefined
  return kept ?? presentDigest(view, canaryRevision)
}

interface Digests {
  /** Digest of the DaemonSet's template, where it is of the revision. */
  readonly present: string | undefined
  readonly inHistory: object | undefined
}

function digestFor(before: RolloutStatus | undefined, stableRevision: string, { present, inHistory }: Digests): string | undefined {
  const known = before?.stableDigest
  if (known !== undefined && before?.stableRevision === stableRevision) return known
  if (present !== undefined) return present
  if (before?.canaryDigest !== undefined && before.canaryStatus?.canaryRevision === stableRevision) return before.canaryDigest
  if (known !== undefined && before?.phase !== 'Disabled') return known
  return inHistory === undefined ? undefined : templateDigest(inHistory)
}

function isTemplate(revision: ControllerRevision, digest: string): boolean {
  const template = plainTemplate(revision)
  return template !== null && templateDigest(template) === digest
}
