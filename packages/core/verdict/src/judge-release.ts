import { ACCEPTED_NODES_MAX, type BatchRelease, type Failure, type StoppedTime, type WatchedNode } from '@tranche/api-schema'
import { analysisVerdict, type AnalysisVerdict } from '@tranche/analysis'
import type { FleetView } from '@tranche/fleet'
import { parseTime } from '@tranche/kube-types'
import { begunAt, hasOldPod } from '@tranche/fence'
import { countedNodes } from './counted-nodes.ts'
import { type FailureTerms, failureTerms } from './failure-terms.ts'
import { judgeRevision, type Verdict } from './judge-revision.ts'
import { acceptedBefore, isAfterEnd, isWayBack, judgedNodes, judgedRelease, knownFailure, releasedRevision } from './judged-release.ts'
import { failureAfter } from './failure-status.ts'

/** A release, and the facts that a process has observed about its nodes. */
export interface ReleaseCase {
  readonly release: Pick<BatchRelease, 'spec' | 'status'> & Partial<Pick<BatchRelease, 'metadata'>>
  readonly fleet: FleetView
  /** Milliseconds that a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Epoch milliseconds. */
  readonly nowMs: number
  /** Now, on the monotonic clock that stamped the pods, in milliseconds. */
  readonly monotonicMs: number
  /** Recorded facts about unhealthy nodes (`status.watchedNodes`). */
  readonly watched: readonly WatchedNode[]
  /** How long this release was stopped; undefined while unknown. */
  readonly stopped: StoppedTime | undefined
  /** Nodes that were NotReady when they were due, if the policy treats that as a failure; undefined: none. */
  readonly notReadyDue?: readonly string[] | undefined
  /** Why no pod can be created, in the words of the API server; undefined when unknown. */
  readonly createRefused?: string | undefined
}

/** Judgement of a release at one time. */
export interface Judgement {
  readonly verdict: Verdict
  readonly terms: FailureTerms
  /** New value of `status.failure`; null removes it. */
  readonly failure: Failure | null
  /** Why no pod may be deleted; null when the release may continue. */
  readonly stops: { readonly reason: string; readonly message: string } | null
  /** Whether nodes may have failed whose failure would stop the release: no pod is deleted until that is known. */
  readonly isInDoubt: boolean
  /** Nodes that a batch need not wait for: failed and tolerated, or accepted. */
  readonly excused: readonly string[]
  /** Monotonic milliseconds at which time alone may change the result; null: never. */
  readonly nextChangeMs: number | null
}

/**
 * Judges a release from earlier failures that no action lifted, present failures, and its analyses. Controller and executor both
 * call it, each with its own observations. A rollback is judged too, but never stopped.
 *
 * @returns null while no revision is being released
 */
export function judgeRelease(given: ReleaseCase): Judgement | null {
  const { release, fleet } = given
  const { spec, status } = release
  const revision = releasedRevision(release)
  if (revision === undefined) return null
  const since = begunAt(release)
  const terms = failureTerms(spec.tranche?.failure, spec.releasePlan, countedNodes(fleet, { revision, begunAt: since }))
  const before = knownFailure(release)
  const judge = (accepted: readonly string[]): Verdict =>
    judgeRevision({
      ...given,
      revision,
      begunAt: since,
      judged: judgedNodes(release),
      // A node that the release left was NotReady then; that is known, and no new failure.
      notReadyDue: isAfterEnd(release) ? undefined : given.notReadyDue,
      terms,
      plan: spec.releasePlan,
      permits: status?.flight?.permits ?? [],
      accepted: new Set(accepted),
    })
  const isReturn = isWayBack(release)
  const accepted = acceptedNodes(before, acceptedBefore(release), { retry: spec.tranche?.retry, judge })
  const verdict = judge(accepted)
  const analysis: AnalysisVerdict = isReturn ? { kind: 'good' } : analysisVerdict(spec.tranche, status?.analysis)
  const named = { release: judgedRelease(release), tranche: spec.tranche }
  const failure = failureAfter({
    before,
    accepted,
    verdict,
    analysis,
    terms,
    isReturn,
    isWhole: isWhole(given, revision),
    ...named,
    nowMs: given.nowMs,
  })
  const failed = verdict.isBad && terms.action !== 'Continue' ? [] : verdict.failed.map(({ node }) => node)
  const excused = [...accepted, ...failed, ...unjudgedNodes(given)]
  const stops = failure?.stops === true ? { reason: failure.reason, message: failure.message } : null
  const isInDoubt = verdict.mayBeBad && !isReturn && terms.action !== 'Continue'
  return { verdict, terms, failure, stops, isInDoubt, excused, nextChangeMs: nextChange(given, verdict, terms, failure) }
}

/**
 * Nodes whose failures a retry accepted: those that had failed before it, by name, because later failures on other nodes are not
 * accepted. At most as many as a status may hold; failures beyond that stop the release again.
 */
function acceptedNodes(
  before: Failure | undefined,
  accepted: readonly string[],
  { retry, judge }: { readonly retry: string | undefined; readonly judge: (accepted: readonly string[]) => Verdict },
): readonly string[] {
  if (before?.stops !== true || before.retry === retry) return accepted
  return [...new Set([...accepted, ...before.nodes, ...judge(accepted).failed.map(({ node }) => node)])].slice(0, ACCEPTED_NODES_MAX)
}

/** Nodes that the release had updated before its end: whatever became of them since, the DaemonSet can be given back. */
function unjudgedNodes({ release, fleet }: ReleaseCase): readonly string[] {
  const judged = judgedNodes(release)
  return judged === undefined ? [] : fleet.nodes.flatMap(({ name, desired }) => (desired && !judged.has(name) ? [name] : []))
}

/** Whether a release has ended, and no node is left any more: a failure that has healed then stops nothing. */
function isWhole({ release, fleet }: ReleaseCase, revision: string): boolean {
  return isAfterEnd(release) && !fleet.nodes.some((node) => hasOldPod(node, revision))
}

function nextChange(
  { nowMs, monotonicMs }: ReleaseCase,
  verdict: Verdict,
  { autoResumeMs }: FailureTerms,
  failure: Failure | null,
): number | null {
  const recoveredMs = parseTime(failure?.recoveredSince)
  if (failure?.stops !== true || recoveredMs === null || autoResumeMs === null) return verdict.nextChangeMs
  const resumeMs = monotonicMs + Math.max(0, recoveredMs + autoResumeMs - nowMs)
  return Math.min(resumeMs, verdict.nextChangeMs ?? resumeMs)
}
