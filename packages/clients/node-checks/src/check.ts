import { type BatchRelease, type BlockedReason, durationMs, type UnderWayReason } from '@tranche/api-schema'
import type { CheckPurpose, NodeCheck, NodeWords, Preparation, PreparationRules } from '@tranche/fence'
import type { DaemonSet } from '@tranche/kube-types'

/** A DaemonSet and the BatchRelease that controls it, as the watches show them. */
export interface CheckTarget {
  readonly daemonSet: DaemonSet
  readonly release: BatchRelease
}

/** Question about one node. */
export interface CheckQuestion {
  readonly node: string
  readonly purpose: CheckPurpose
}

/**
 * One check of nodes. It finds in the cluster what it did there, by labels or annotations, and never in its memory: a process may die at any
 * await.
 */
export interface Check {
  /** Value of `check` in its preparations; unique among all checks. */
  readonly name: string
  /** @returns what the policy asks for; undefined if it does not ask for this check, or if the check never does anything on nodes */
  rules(target: CheckTarget): PreparationRules | undefined
  /** @returns what it did on nodes for the release of the target, as the watches show it, whatever the policy asks for now */
  preparations(target: CheckTarget): readonly Preparation[]
  /**
   * Answers for one node, and begins on it what the policy asks for.
   *
   * @returns null if the policy does not ask for this check
   * @throws if there is no clear response
   */
  check(target: CheckTarget, question: CheckQuestion, signal: AbortSignal): Promise<NodeCheck | null>
  /**
   * Undoes what it did on a node.
   *
   * @throws if it is not sure to be undone: it is tried again
   */
  undo(target: CheckTarget, node: string, signal: AbortSignal): Promise<void>
  /**
   * Renews what it did on a node, if that lasts only for a time.
   *
   * @throws if it is not sure to be renewed: it is tried again
   */
  renew?(target: CheckTarget, node: string, signal: AbortSignal): Promise<void>
  /**
   * Undoes what it did for releases that control no DaemonSet any more.
   *
   * @throws if something is not sure to be undone: it is tried again
   */
  sweep(signal: AbortSignal): Promise<void>
}

/** @returns the answer that keeps the pod on its node */
export function blocked(reason: BlockedReason, message: string): NodeCheck & { readonly kind: 'blocked' } {
  return { kind: 'blocked', reason, message }
}

/** Work on a node that ends at a time limit, unless it is done before. */
export interface LimitedWork {
  readonly reason: UnderWayReason
  /** What it waits for, with the node as the subject: `it pulls …`. */
  readonly text: string
  /** Epoch milliseconds. */
  readonly sinceMs: number
  /** As in the policy: `10m`. */
  readonly timeout: string
  /** Result if the time is over. */
  readonly afterwards: string
}

/** @returns what work on a node waits for, since when, and when that ends at the latest */
export function limitedWords({ reason, text, sinceMs, timeout, afterwards }: LimitedWork): NodeWords {
  const untilMs = sinceMs + durationMs(timeout)
  return { reason, message: `${text}, since ${stamp(sinceMs)}, until ${stamp(untilMs)} at the latest; then ${afterwards}` }
}

/** RFC 3339, in whole seconds: two processes then write the same text. */
function stamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
