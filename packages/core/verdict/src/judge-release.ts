import { ACCEPTED_NODES_MAX, type BatchRelease, type Failure, type StoppedTime, type WatchedNode } from '@tranche/api-schema'
import { analysisVerdict, type AnalysisVerdict } from '@tranche/analysis'
import type { FleetView } from '@tranche/fleet'
import { type FailureTerms, failureTerms } from './failure-terms.ts'
import { judgeRevision, type Verdict } from './judge-revision.ts'
import { isWayBack, judgedRelease, knownFailure, releasedRevision } from './judged-release.ts'
import { failureAfter } from './failure-status.ts'

/** A release, and what a process has seen of its nodes. */
export interface ReleaseCase {
  readonly release: Pick<BatchRelease, 'spec' | 'status'>
  readonly fleet: FleetView
  /** How long a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Epoch milliseconds. */
  readonly nowMs: number
  /** The clock that stamped the pods. */
  readonly monotonicMs: number
  /** What is remembered of nodes that were not well. */
  readonly watched: readonly WatchedNode[]
  /** For how long this release was stopped; undefined while nothing is known of that. */
  readonly stopped: StoppedTime | undefined
  /** Nodes that were NotReady when their turn came, where the policy takes that for a failure; undefined: none. */
  readonly notReadyDue?: readonly string[] | undefined
  /** Why no pod can be created, in the words of the API server; undefined where that is not known. */
  readonly createRefused?: string | undefined
}

/** What is to be thought of a release now. */
export interface Judgement {
  readonly verdict: Verdict
  readonly terms: FailureTerms
  /** What `status.failure` should say; null: nothing. */
  readonly failure: Failure | null
  /** Nothing may be deleted: the reason, and what was seen. Null where the release may go on. */
  readonly stops: { readonly reason: string; readonly message: string } | null
  /** Nodes that keep no batch from being ready: failed and tolerated, or accepted. */
  readonly excused: readonly string[]
  /** When (monotonic) the clock alone may change this; null where it cannot. */
  readonly nextChangeMs: number | null
}

/**
 * Judges a release: what was found before and not lifted, what is found now, and what its analyses say. Controller and
 * executor ask alike, each with what it has seen. A way back is judged, but nothing stops it.
 *
 * @returns null while no revision is being released
 */
export function judgeRelease(given: ReleaseCase): Judgement | null {
  const { release, fleet } = given
  const { spec, status } = release
  const revision = releasedRevision(release)
  if (revision === undefined) return null
  const terms = failureTerms(spec.tranche?.failure, spec.releasePlan, fleet.desired)
  const before = knownFailure(release)
  const judge = (accepted: readonly string[]): Verdict =>
    judgeRevision({
      ...given,
      revision,
      terms,
      plan: spec.releasePlan,
      permits: status?.flight?.permits ?? [],
      accepted: new Set(accepted),
    })
  const isReturn = isWayBack(release)
  const accepted = acceptedNodes(before, spec.tranche?.retry, judge)
  const verdict = judge(accepted)
  const analysis: AnalysisVerdict = isReturn ? { kind: 'good' } : analysisVerdict(spec.tranche, status?.analysis)
  const named = { release: judgedRelease(release), tranche: spec.tranche }
  const failure = failureAfter({ before, accepted, verdict, analysis, terms, isReturn, ...named, nowMs: given.nowMs })
  const excused = verdict.isBad && terms.action !== 'Continue' ? accepted : [...accepted, ...verdict.failed.map(({ node }) => node)]
  const stops = failure?.stops === true ? { reason: failure.reason, message: failure.message } : null
  return { verdict, terms, failure, stops, excused, nextChangeMs: nextChange(given, verdict, terms, failure) }
}

/**
 * A retry that came after the failure accepts what failed until then: by name, for what fails later on another node was not
 * accepted. As many as a status may hold; the others stop the release again.
 */
function acceptedNodes(
  before: Failure | undefined,
  retry: string | undefined,
  judge: (accepted: readonly string[]) => Verdict,
): readonly string[] {
  const accepted = before?.accepted ?? []
  if (before?.stops !== true || before.retry === retry) return accepted
  return [...new Set([...accepted, ...before.nodes, ...judge(accepted).failed.map(({ node }) => node)])].slice(0, ACCEPTED_NODES_MAX)
}

function nextChange(
  { nowMs, monotonicMs }: ReleaseCase,
  verdict: Verdict,
  { autoResumeMs }: FailureTerms,
  failure: Failure | null,
): number | null {
  if (failure?.stops !== true || failure.calmSince === undefined || autoResumeMs === null) return verdict.nextChangeMs
  const resumeMs = monotonicMs + Math.max(0, Date.parse(failure.calmSince) + autoResumeMs - nowMs)
  return Math.min(resumeMs, verdict.nextChangeMs ?? resumeMs)
}
