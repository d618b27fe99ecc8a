import { ACCEPTED_NODES_MAX, type Failure, type FailureAction, LISTED_NODES_MAX, type TrancheSpec } from '@tranche/api-schema'
import type { AnalysisVerdict } from '@tranche/analysis'
import { parseTime } from '@tranche/kube-types'
import type { FailureTerms } from './failure-terms.ts'
import type { Verdict } from './judge-revision.ts'
import { verdictText } from './verdict-text.ts'

/** Input for `status.failure`. */
export interface FailureQuestion {
  /** Present failure of this release in the status; undefined without one. */
  readonly before: Failure | undefined
  /** Nodes whose failures have been accepted. */
  readonly accepted: readonly string[]
  readonly verdict: Verdict
  readonly analysis: AnalysisVerdict
  readonly terms: FailureTerms
  /** Whether the release is a rollback to the stable revision: failures are then reported, but never stop it. */
  readonly isReturn: boolean
  /** Whether the release has ended, and no node is left. */
  readonly isWhole: boolean
  /** Name of the release from {@link judgedRelease}. */
  readonly release: string
  readonly tranche: TrancheSpec | undefined
  readonly nowMs: number
}

/** Maximum number of failed nodes that a status describes. */
const DESCRIBED_MAX = 10

/**
 * Failure for the status. A failure that stops the release stays even if nodes recover. It ends with a retry, when `autoResume`
 * has passed without failures, or when its analysis no longer decides.
 *
 * @returns null without failures and accepted failures
 */
export function failureAfter(question: FailureQuestion): Failure | null {
  const held = heldBy(question)
  const found = findingOf(question)
  if (held !== null) return stillHeld(held, found, question)
  if (found !== null) return { ...found, ...(found.stops === true ? {} : { at: question.before?.at ?? found.at }) }
  const { accepted, release } = question
  if (accepted.length === 0) return null
  const message = `the failures on ${accepted.length === 1 ? accepted[0] : `${accepted.length} nodes`} were accepted by a retry`
  return { reason: 'Accepted', message, nodes: [], count: 0, stops: false, release, ...acceptedOf(accepted) }
}

/** Since when (RFC 3339) a failure has been within the limit. The previous version named the field `calmSince`. */
export function recoveredSinceOf({ recoveredSince, calmSince }: Failure): string | undefined {
  return [recoveredSince, calmSince].find((since) => parseTime(since) !== null)
}

/** The earlier failure that still stops the release; null without one, or after it was lifted. */
function heldBy({ before, verdict, analysis, terms, tranche, isReturn, isWhole, nowMs }: FailureQuestion): Failure | null {
  if (before?.stops !== true || before.retry !== tranche?.retry || isReturn) return null
  if (isWhole && !verdict.isBad) return null
  if (before.reason === 'AnalysisInconclusive') return analysis.kind === 'good' ? null : before
  if (terms.action === 'Continue') return null
  if (before.reason === 'AnalysisFailed') return analysis.kind === 'good' ? null : before
  const recoveredMs = parseTime(recoveredSinceOf(before))
  if (verdict.isBad || terms.autoResumeMs === null || recoveredMs === null) return before
  return nowMs - recoveredMs >= terms.autoResumeMs ? null : before
}

function stillHeld(held: Failure, found: Failure | null, { verdict, terms, nowMs }: FailureQuestion): Failure {
  if (found !== null && rank(found) > rank(held)) return found
  const action = held.reason === 'AnalysisInconclusive' ? held.action : terms.action
  const { calmSince: _calm, recoveredSince: _recovered, ...rest } = held
  const recoveredSince = recoveredSinceOf(held)
  const hasRecovered = held.reason === 'ReleaseFailed' && !verdict.isBad && terms.autoResumeMs !== null
  const grown = found !== null && found.reason === held.reason && (found.count ?? 0) > (held.count ?? 0) ? seenOf(found) : {}
  return { ...rest, ...grown, action, ...(hasRecovered && { recoveredSince: recoveredSince ?? new Date(nowMs).toISOString() }) }
}

/** Precedence: failed nodes outweigh an analysis, and a failed analysis outweighs an inconclusive one. */
function rank({ reason, stops }: Failure): number {
  if (stops !== true) return 0
  return reason === 'ReleaseFailed' ? 3 : reason === 'AnalysisFailed' ? 2 : 1
}

function seenOf({ message, nodes, count, failedNodes }: Failure): Partial<Failure> {
  return { message, nodes, count, failedNodes }
}

/** The present failure with the highest precedence. */
function findingOf(question: FailureQuestion): Failure | null {
  const { verdict, analysis, terms, isReturn } = question
  const mayStop = !isReturn && terms.action !== 'Continue'
  if (verdict.isBad && mayStop) return failureOf(question, beyondAccepted(ofNodes(verdict), question.accepted), true)
  if (analysis.kind === 'failed' && mayStop) return failureOf(question, ofAnalysis('AnalysisFailed', analysis.message), true)
  if (analysis.kind === 'inconclusive') {
    return { ...failureOf(question, ofAnalysis('AnalysisInconclusive', analysis.message), true), action: 'Pause' satisfies FailureAction }
  }
  if (verdict.count > 0) return failureOf(question, ofNodes(verdict), false)
  return analysis.kind === 'failed' ? failureOf(question, ofAnalysis('AnalysisFailed', analysis.message), false) : null
}

type Seen = Pick<Failure, 'reason' | 'message' | 'nodes' | 'count' | 'limit' | 'failedNodes'>

function ofNodes(verdict: Verdict): Seen {
  return {
    reason: 'ReleaseFailed',
    message: verdictText(verdict),
    nodes: verdict.failed.slice(0, LISTED_NODES_MAX).map(({ node }) => node),
    count: verdict.count,
    limit: verdict.limit,
    failedNodes: verdict.failed.slice(0, DESCRIBED_MAX),
  }
}

/** Adds that another retry would have no effect, when the accepted nodes are at their maximum. */
function beyondAccepted(seen: Seen, accepted: readonly string[]): Seen {
  if (accepted.length < ACCEPTED_NODES_MAX) return seen
  const wayOut = 'a retry cannot accept more: raise failure.maxFailedNodes, or abort'
  return { ...seen, message: `${seen.message}; ${accepted.length} other nodes were accepted, and ${wayOut}` }
}

function ofAnalysis(reason: string, message: string): Seen {
  return { reason, message, nodes: [] }
}

function failureOf({ accepted, terms, release, tranche, nowMs }: FailureQuestion, seen: Seen, stops: boolean): Failure {
  return {
    ...seen,
    at: new Date(nowMs).toISOString(),
    action: terms.action,
    stops,
    release,
    ...(tranche?.retry !== undefined && { retry: tranche.retry }),
    ...acceptedOf(accepted),
  }
}

function acceptedOf(accepted: readonly string[]): Pick<Failure, 'accepted'> {
  return accepted.length === 0 ? {} : { accepted }
}
