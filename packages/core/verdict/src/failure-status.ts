import { ACCEPTED_NODES_MAX, type Failure, type FailureAction, LISTED_NODES_MAX, type TrancheSpec } from '@tranche/api-schema'
import type { AnalysisVerdict } from '@tranche/analysis'
import type { FailureTerms } from './failure-terms.ts'
import type { Verdict } from './judge-revision.ts'
import { verdictText } from './verdict-text.ts'

/** What `status.failure` follows from. */
export interface FailureQuestion {
  /** What it says of this release; undefined where nothing. */
  readonly before: Failure | undefined
  /** Nodes whose failures are accepted by now. */
  readonly accepted: readonly string[]
  readonly verdict: Verdict
  readonly analysis: AnalysisVerdict
  readonly terms: FailureTerms
  /** Back to the stable revision: what is found is said, and never stops the way back. */
  readonly isReturn: boolean
  /** Name of the release, as {@link judgedRelease} says it. */
  readonly release: string
  readonly tranche: TrancheSpec | undefined
  readonly nowMs: number
}

/** How many failed nodes a status describes. */
const DESCRIBED_MAX = 10

/**
 * What the status says of failures. One that stops the release stays, whatever heals, until somebody retries, until
 * `autoResume` has passed without it, or until its analysis decides no more.
 *
 * @returns null where nothing failed and nothing was accepted
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

/** The failure that holds the release still; null where none does, or something has lifted it. */
function heldBy({ before, verdict, analysis, terms, tranche, isReturn, nowMs }: FailureQuestion): Failure | null {
  if (before?.stops !== true || before.retry !== tranche?.retry || isReturn) return null
  if (before.reason === 'AnalysisInconclusive') return analysis.kind === 'good' ? null : before
  if (terms.action === 'Continue') return null
  if (before.reason === 'AnalysisFailed') return analysis.kind === 'good' ? null : before
  if (verdict.isBad || terms.autoResumeMs === null || before.calmSince === undefined) return before
  return nowMs - Date.parse(before.calmSince) >= terms.autoResumeMs ? null : before
}

function stillHeld(held: Failure, found: Failure | null, { verdict, terms, nowMs }: FailureQuestion): Failure {
  if (found !== null && rank(found) > rank(held)) return found
  const action = held.reason === 'AnalysisInconclusive' ? held.action : terms.action
  const { calmSince, ...rest } = held
  const hasRecovered = held.reason === 'ReleaseFailed' && !verdict.isBad && terms.autoResumeMs !== null
  const grown = found !== null && found.reason === held.reason && (found.count ?? 0) > (held.count ?? 0) ? seenOf(found) : {}
  return { ...rest, ...grown, action, ...(hasRecovered && { calmSince: calmSince ?? new Date(nowMs).toISOString() }) }
}

/** What outweighs what: nodes that failed say more than an analysis, and a failure more than a doubt. */
function rank({ reason, stops }: Failure): number {
  if (stops !== true) return 0
  return reason === 'ReleaseFailed' ? 3 : reason === 'AnalysisFailed' ? 2 : 1
}

function seenOf({ message, nodes, count, failedNodes }: Failure): Partial<Failure> {
  return { message, nodes, count, failedNodes }
}

/** What is found now; the weightiest. */
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

/** Another retry would be in vain. */
function beyondAccepted(seen: Seen, accepted: readonly string[]): Seen {
  if (accepted.length < ACCEPTED_NODES_MAX) return seen
  const wayOut = 'a retry accepts no more: raise failure.maxFailedNodes, or abort'
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
