import { judgeNode } from './failed-node.ts'
import { failureTerms } from './failure-terms.ts'
import { suspectsToJudge } from './judge-revision.ts'
import type { ReleaseCase } from './judge-release.ts'
import { acceptedBefore, isWayBack, judgedNodes, releasedRevision } from './judged-release.ts'

/**
 * Running deadlines: the time by which a node must have an available pod of the new version; otherwise it counts as failed.
 *
 * @returns epoch milliseconds by node; empty while the release is stopped, during a rollback, and without a release
 */
export function nodeDeadlines(given: ReleaseCase): ReadonlyMap<string, number> {
  const { release, fleet, nowMs } = given
  const { tranche, releasePlan } = release.spec
  const revision = releasedRevision(release)
  if (revision === undefined || isWayBack(release)) return NONE
  const suspects = suspectsToJudge({ ...given, revision, judged: judgedNodes(release), permits: release.status?.flight?.permits ?? [] })
  if (suspects.length === 0) return NONE
  const terms = failureTerms(tranche?.failure, releasePlan, fleet.desired)
  const watched = new Map(given.watched.map((entry) => [entry.node, entry]))
  const accepted = new Set(acceptedBefore(release))
  return new Map(
    suspects.flatMap((suspect): [string, number][] => {
      if (accepted.has(suspect.node)) return []
      const finding = judgeNode({ suspect, watched: watched.get(suspect.node), terms, times: given, monotonicMs: given.monotonicMs })
      return finding.kind === 'notYet' && Number.isFinite(finding.leftMs) ? [[suspect.node, nowMs + finding.leftMs]] : []
    }),
  )
}

const NONE: ReadonlyMap<string, number> = new Map()
