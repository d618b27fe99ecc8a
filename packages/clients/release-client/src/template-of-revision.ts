import type { RevisionTemplate } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { hashOf, plainTemplate } from '@tranche/planner'
import { type ReleaseFacts, reportRevisions } from '@tranche/reports'

/**
 * Returns one revision of a DaemonSet with its pod template.
 *
 * @param wanted number or controller-revision-hash
 * @throws {AppError} REVISION_NOT_FOUND
 */
export function templateOfRevision(facts: ReleaseFacts, wanted: string): RevisionTemplate {
  const reports = reportRevisions(facts)
  const report = reports.find(({ revision }) => revision === wanted) ?? reports.find(({ number }) => String(number) === wanted)
  const held = facts.revisions.find((revision) => hashOf(revision) === report?.revision)
  const template = held === undefined ? null : plainTemplate(held)
  if (report !== undefined && template !== null) return { ...report, template }
  throw new AppError('REVISION_NOT_FOUND', `there is no revision ${wanted} in the history`, {
    details: { revision: wanted },
    hint: `Name one of ${reports.map(({ number, revision }) => `${number} (${revision})`).join(', ')}.`,
  })
}
