import type { RolloutStatus } from '@tranche/api-schema'
import type { ControllerRevision } from '@tranche/kube-types'
import { hashOf, templateOf, templateText } from '../release/discover-revisions.ts'
import { plainTemplate } from '../release/stable-template.ts'
import type { Course } from './course.ts'
import { templateDigest } from './held-revisions.ts'
import type { RolloutView } from './rollout-view.ts'

/** What a status says of the template that became stable. */
export type StableRecord = Pick<RolloutStatus, 'stableDigest' | 'stableMismatch'>

/**
 * Rule F15: the digest of the template that became stable, and the ControllerRevision that holds another one for it.
 *
 * The digest is that of the DaemonSet's own template where the revision holds that one. While the Rollout is in control, a stable revision
 * that came by its hash alone keeps the digest that was recorded before: a ControllerRevision that was written under a new hash becomes
 * nothing that is put back. Only the first status, that of a previous version, and the first one after the Rollout was disabled take the
 * digest from the history.
 */
export function stableRecord(
  { rollout, daemonSet, revisions }: RolloutView,
  { stableRevision }: Pick<Course, 'stableRevision'>,
): StableRecord {
  if (stableRevision === undefined) return {}
  const held = revisions.filter((one) => hashOf(one) === stableRevision)
  const stableDigest = digestFor(rollout.status, stableRevision, {
    presents: held.some((one) => templateText(templateOf(one)) === templateText(daemonSet?.spec.template)),
    present: daemonSet?.spec.template,
    inHistory: held.map(plainTemplate).find((template) => template !== null),
  })
  const mismatch = stableDigest === undefined ? undefined : held.find((one) => !isTemplate(one, stableDigest))
  return { ...(stableDigest !== undefined && { stableDigest }), ...(mismatch !== undefined && { stableMismatch: mismatch.metadata.name }) }
}

interface Templates {
  /** The DaemonSet has the template of the revision now. */
  readonly presents: boolean
  readonly present: object | undefined
  readonly inHistory: object | undefined
}

function digestFor(
  before: RolloutStatus | undefined,
  stableRevision: string,
  { presents, present, inHistory }: Templates,
): string | undefined {
  const known = before?.stableDigest
  if (known !== undefined && before?.stableRevision === stableRevision) return known
  if (presents && present !== undefined) return templateDigest(present)
  if (known !== undefined && before?.phase !== 'Disabled') return known
  return inHistory === undefined ? undefined : templateDigest(inHistory)
}

function isTemplate(revision: ControllerRevision, digest: string): boolean {
  const template = plainTemplate(revision)
  return template !== null && templateDigest(template) === digest
}
