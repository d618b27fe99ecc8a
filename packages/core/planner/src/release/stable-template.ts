import type { StableTemplate } from '@tranche/api-schema'
import type { ControllerRevision } from '@tranche/kube-types'
import { hashOf, templateOf } from './discover-revisions.ts'
import type { ReleaseView } from './release-view.ts'

/** Longest template that is kept, in characters of JSON: the BatchRelease holds the permit record beside it. */
const MAX_TEMPLATE_LENGTH = 262_144
/** What Kubernetes keeps where the DaemonSet does not say. */
const DEFAULT_HISTORY_LIMIT = 10

/**
 * The template of the stable revision, where the history of the DaemonSet may lose it before the release has ended: the
 * DaemonSet controller prunes it as soon as no pod runs it and `revisionHistoryLimit` newer revisions beside the current one
 * are there. It is kept one revision ahead, for a newer template may come and prune it before we hear of it. Null where it
 * is in no danger, or too large.
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

/** Without the directive of a strategic patch. */
export function plainTemplate(revision: ControllerRevision): Record<string, unknown> | null {
  const held = templateOf(revision)
  return held === undefined ? null : Object.fromEntries(Object.entries(held).filter(([key]) => key !== '$patch'))
}
