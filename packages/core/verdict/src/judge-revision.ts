import type { FailedNode, Permit, ReleasePlan, WatchedNode } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import { batchOfNode, type BatchFailures, batchFailures } from './batch-failures.ts'
import { badBefore } from './bad-before.ts'
import { countedNodes } from './counted-nodes.ts'
import type { Times } from './down-time.ts'
import { judgeNode } from './failed-node.ts'
import type { FailureTerms } from './failure-terms.ts'
import { olderPods } from './stopped-time.ts'
import { findSuspects, type Suspect } from './suspects.ts'

/** Input of a verdict. */
export interface VerdictQuestion extends Times {
  readonly fleet: FleetView
  /** `controller-revision-hash` to judge. */
  readonly revision: string
  /** When the release began, in RFC 3339 by the clock of the API server; undefined where it is unknown. */
  readonly begunAt?: string | undefined
  /** Milliseconds that a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Now, on the monotonic clock that stamped the pods, in milliseconds. */
  readonly monotonicMs: number
  /** Nodes whose failures count; undefined: every node. */
  readonly judged?: ReadonlySet<string> | undefined
  /** Permits of the record. Nodes that were unhealthy before their update do not count until they have settled. */
  readonly permits: readonly Permit[]
  /** Recorded facts about unhealthy nodes (`status.watchedNodes`). */
  readonly watched: readonly WatchedNode[]
  /** Nodes whose failures a retry accepted. */
  readonly accepted: ReadonlySet<string>
  readonly terms: FailureTerms
  readonly plan: ReleasePlan
  /** Nodes that were NotReady when they were due, if the policy treats that as a failure; undefined: none. */
  readonly notReadyDue?: readonly string[] | undefined
  /** Why no pod can be created, in the words of the API server; undefined when unknown. */
  readonly createRefused?: string | undefined
}

/** Whether a revision is bad, and why. */
export interface Verdict {
  /** All nodes on which it failed, sorted by name. */
  readonly failed: readonly FailedNode[]
  readonly count: number
  /** Number of tolerated failed nodes. */
  readonly limit: number
  /** Number of nodes that the limit refers to. */
  readonly desired: number
  /** Failures by batch; empty without a limit by batch. */
  readonly perBatch: readonly BatchFailures[]
  /** Whether more nodes failed than are tolerated. */
  readonly isBad: boolean
  /** Whether it is not bad yet, and is if those nodes were lost of which that is in doubt. */
  readonly mayBeBad: boolean
  /** These nodes, sorted by name. */
  readonly inDoubt: readonly string[]
  /** Monotonic milliseconds of the next deadline; null without one. */
  readonly nextChangeMs: number | null
}

/**
 * Judges a revision by the nodes that were updated to it. Pure: controller and executor both call it.
 *
 * - A node that was unhealthy before its update never counts (docs/reference/policy.md, failure).
 * - Neither flapping nor a new pod resets the facts in `watched`.
 * - More restarts, or more time without an available pod, never make a failed node healthy.
 * - Time in which the release was stopped counts towards no deadline.
 */
export function judgeRevision(question: VerdictQuestion): Verdict {
  const { fleet, terms } = question
  const { found, doubtful, leftMs } = findingsOf(question)
  const perBatch = failuresPerBatch(question, found)
  const isBad = isBeyond(terms.limit, found.length, perBatch)
  return {
    failed: found.map(({ failed }) => failed),
    count: found.length,
    limit: terms.limit,
    desired: countedNodes(fleet, question),
    perBatch,
    isBad,
    inDoubt: doubtful.map(({ suspect }) => suspect.node),
    mayBeBad: !isBad && isBeyond(terms.limit, found.length + doubtful.length, failuresPerBatch(question, [...found, ...doubtful])),
    nextChangeMs: Number.isFinite(leftMs) ? question.monotonicMs + Math.max(0, leftMs) : null,
  }
}

function isBeyond(limit: number, count: number, perBatch: readonly BatchFailures[]): boolean {
  return count > limit || perBatch.some((batch) => batch.count > batch.limit)
}

function failuresPerBatch(question: VerdictQuestion, nodes: readonly OnNode[]): readonly BatchFailures[] {
  return batchFailures(
    question,
    nodes.map(({ suspect }) => batchOfNode(suspect, question.plan)),
  )
}

interface OnNode {
  readonly suspect: Pick<Suspect, 'pod'>
}

interface Findings {
  readonly found: readonly (OnNode & { readonly failed: FailedNode })[]
  /** Nodes that may have failed already. */
  readonly doubtful: readonly { readonly suspect: Suspect }[]
  /** Milliseconds until the next deadline; Infinity without one. */
  readonly leftMs: number
}

function findingsOf(question: VerdictQuestion): Findings {
  const { accepted, terms } = question
  const found: (OnNode & { failed: FailedNode })[] = []
  const doubtful: { suspect: Suspect }[] = []
  let leftMs = Number.POSITIVE_INFINITY
  const suspects = suspectsToJudge(question).filter(({ node }) => !accepted.has(node))
  const watched = new Map(suspects.length === 0 ? [] : question.watched.map((entry) => [entry.node, entry]))
  for (const suspect of suspects) {
    const finding = judgeNode({
      suspect,
      watched: watched.get(suspect.node),
      terms,
      times: question,
      monotonicMs: question.monotonicMs,
      createRefused: question.createRefused,
    })
    if (finding.kind === 'failed') found.push({ failed: finding.failed, suspect })
    else {
      leftMs = Math.min(leftMs, finding.leftMs)
      if (finding.mayHaveFailed) doubtful.push({ suspect })
    }
  }
  for (const node of question.notReadyDue ?? []) {
    if (accepted.has(node)) continue
    const failed = { node, reason: 'NodeNotReady', message: 'the node was NotReady or in maintenance when its update was due' }
    found.push({ failed, suspect: { pod: undefined } })
  }
  return { found, doubtful, leftMs }
}

/** Input for finding the suspects of a verdict. */
export type SuspectsQuestion = Pick<VerdictQuestion, 'fleet' | 'revision' | 'minReadyMs' | 'monotonicMs' | 'stopped' | 'permits' | 'judged'>

function isJudged(node: string, judged: ReadonlySet<string> | undefined): boolean {
  return judged === undefined || judged.has(node)
}

/** Suspects whose state the new version may have caused. */
export function suspectsToJudge(question: SuspectsQuestion): readonly Suspect[] {
  const { fleet, revision, minReadyMs, monotonicMs, stopped, judged } = question
  const suspects = findSuspects(fleet, { revision, minReadyMs, monotonicMs, older: olderPods(stopped) })
  if (suspects.length === 0) return suspects
  const bad = badBefore(question)
  const taken = new Set(question.permits.map(({ node }) => node))
  // A node without a pod whose pod Tranche did not delete lacks it for another reason.
  return suspects.filter(({ node, isMissing }) => isJudged(node, judged) && !bad.has(node) && (!isMissing || taken.has(node)))
}
