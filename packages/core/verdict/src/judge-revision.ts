import type { FailedNode, Permit, ReleasePlan, WatchedNode } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import { batchOfNode, type BatchFailures, batchFailures } from './batch-failures.ts'
import { badBefore } from './bad-before.ts'
import type { Times } from './down-time.ts'
import { judgeNode } from './failed-node.ts'
import type { FailureTerms } from './failure-terms.ts'
import { olderPods } from './stopped-time.ts'
import { findSuspects, type Suspect } from './suspects.ts'

/** Everything that a verdict rests on. */
export interface VerdictQuestion extends Times {
  readonly fleet: FleetView
  /** `controller-revision-hash` to judge. */
  readonly revision: string
  /** How long a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Now, on the monotonic clock that stamped the pods. */
  readonly monotonicMs: number
  /** Permits of the record: nodes that were bad before they were taken say nothing until they have settled. */
  readonly permits: readonly Permit[]
  /** What is remembered of nodes that were not well (`status.watchedNodes`). */
  readonly watched: readonly WatchedNode[]
  /** Nodes whose failures somebody has accepted. */
  readonly accepted: ReadonlySet<string>
  readonly terms: FailureTerms
  readonly plan: ReleasePlan
  /** Nodes that were NotReady when their turn came, where the policy takes that for a failure; undefined: none. */
  readonly notReadyDue?: readonly string[] | undefined
  /** Why no pod can be created, in the words of the API server; undefined where that is not known. */
  readonly createRefused?: string | undefined
}

/** Whether a revision is bad, and why. */
export interface Verdict {
  /** Every node on which it failed, by name. */
  readonly failed: readonly FailedNode[]
  readonly count: number
  /** How many are tolerated. */
  readonly limit: number
  readonly desired: number
  /** Batches with failures of their own that are counted apart; none without such a rule. */
  readonly perBatch: readonly BatchFailures[]
  /** More failed than are tolerated. */
  readonly isBad: boolean
  /** When (monotonic) the next deadline passes, if nothing else happens; null where none runs. */
  readonly nextChangeMs: number | null
}

/**
 * Judges a revision by what is seen of the nodes that were updated to it. Pure: controller and executor ask alike.
 *
 * - A node that was bad before its update is never counted (product §5).
 * - Neither flapping nor another pod makes anything forgotten that `watched` knows.
 * - More restarts, or more time without an available pod, never make a failed node well.
 * - Time in which the release was stopped counts towards no deadline.
 */
export function judgeRevision(question: VerdictQuestion): Verdict {
  const { fleet, terms, plan } = question
  const { found, leftMs } = findingsOf(question)
  const perBatch = batchFailures(
    question,
    found.map(({ suspect }) => batchOfNode(suspect, plan)),
  )
  return {
    failed: found.map(({ failed }) => failed),
    count: found.length,
    limit: terms.limit,
    desired: fleet.desired,
    perBatch,
    isBad: found.length > terms.limit || perBatch.some(({ count, limit }) => count > limit),
    nextChangeMs: Number.isFinite(leftMs) ? question.monotonicMs + Math.max(0, leftMs) : null,
  }
}

interface Findings {
  readonly found: readonly { readonly failed: FailedNode; readonly suspect: Pick<Suspect, 'pod'> }[]
  /** Until the next deadline passes; Infinity where none runs. */
  readonly leftMs: number
}

function findingsOf(question: VerdictQuestion): Findings {
  const { accepted, terms } = question
  const found: { failed: FailedNode; suspect: Pick<Suspect, 'pod'> }[] = []
  let leftMs = Number.POSITIVE_INFINITY
  const suspects = suspectsToJudge(question).filter(({ node }) => !accepted.has(node))
  const watched = new Map(suspects.length === 0 ? [] : question.watched.map((entry) => [entry.node, entry]))
  for (const suspect of suspects) {
    const finding = judgeNode({
      suspect,
      watched: watched.get(suspect.node),
      terms,
      times: question,
      createRefused: question.createRefused,
    })
    if (finding.kind === 'failed') found.push({ failed: finding.failed, suspect })
    else leftMs = Math.min(leftMs, finding.leftMs)
  }
  for (const node of question.notReadyDue ?? []) {
    if (accepted.has(node)) continue
    const failed = { node, reason: 'NodeNotReady', message: 'the node was NotReady when its turn came' }
    found.push({ failed, suspect: { pod: undefined } })
  }
  return { found, leftMs }
}

/** What looking for the suspects of a verdict rests on. */
export type SuspectsQuestion = Pick<VerdictQuestion, 'fleet' | 'revision' | 'minReadyMs' | 'monotonicMs' | 'stopped' | 'permits'>

/** Suspects whose state says something of the new version. */
export function suspectsToJudge(question: SuspectsQuestion): readonly Suspect[] {
  const { fleet, revision, minReadyMs, monotonicMs, stopped } = question
  const suspects = findSuspects(fleet, { revision, minReadyMs, monotonicMs, older: olderPods(stopped) })
  if (suspects.length === 0) return suspects
  const bad = badBefore(question)
  const taken = new Set(question.permits.map(({ node }) => node))
  // A node that has no pod, and from which we took none, was without one for reasons of its own.
  return suspects.filter(({ node, isMissing }) => !bad.has(node) && (!isMissing || taken.has(node)))
}
