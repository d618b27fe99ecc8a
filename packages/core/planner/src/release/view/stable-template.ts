import type { StableTemplate } from '@tranche/api-schema'
import type { ControllerRevision } from '@tranche/kube-types'
import { hashOf, templateOf } from './discover-revisions.ts'
import type { ReleaseView } from './release-view.ts'

/** Maximum length of a stored template, in characters of JSON: the BatchRelease also holds the permit record. */
const MAX_TEMPLATE_LENGTH = 262_144
/** Kubernetes' default of revisionHistoryLimit. */
const DEFAULT_HISTORY_LIMIT = 10

/**
 * The template of the stable revision, where the DaemonSet's history may lose it before the release ends. The DaemonSet
 * controller prunes it once no pod runs it and `revisionHistoryLimit` newer revisions exist beside the current one. It is
 * kept one revision early, because a newer template may prune it before our watch shows that. Null where it is not in danger,
 * or too large.
 */
export function stableTemplate({ release, daemonSet, revisions }: ReleaseView, stable: string): StableTemplate | null {
  const known = release.status?.stableTemplate
  if (known?.revision === stable) return known
  const revision = revisions.find((one) => hashOf(one) === stable)
  const template = revision === undefined ? null : plainTemplate(revision)
  if (revision === undefined || template === null) return null
  const newer = revisions.filter((one) => one.revision > revision.revision).length
  if (newer < (daemonSet?.spec.revisionHistoryLimit ?? DEFAULT_HISTORY_LIMIT)) return null
  return JSON.stringify(template).length > MAX_TEMPLATE_LENGTH ? null : { revision: stable, template }
}

/** The template without the directive of a strategic patch. */
export function plainTemplate(revision: ControllerRevision): Record<string, unknown> | null {
  const held = templateOf(revision)
  return held === undefined ? null : Object.fromEntries(Object.entries(held).filter(([key]) => key !== '$patch'))
}
