import type { FailedNode, WatchedNode } from '@tranche/api-schema'
import type { PodTrouble } from '@tranche/fleet'
import { downTimeMs, sameStateMs, type Times } from './down-time.ts'
import type { FailureTerms } from './failure-terms.ts'
import { restartsSinceUpdate } from './restarts.ts'
import type { Suspect } from './suspects.ts'

/** Input of the failure rules for one node. */
export interface NodeCase {
  readonly suspect: Suspect
  /** Recorded facts about the node. */
  readonly watched: WatchedNode | undefined
  readonly terms: FailureTerms
  readonly times: Times
  /** Now, on the monotonic clock that stamped the pods, in milliseconds. */
  readonly monotonicMs: number
  /** Why no pod can be created, in the words of the API server; undefined when unknown. */
  readonly createRefused?: string | undefined
}

/** Result for one node: failed, or the milliseconds until a deadline fails it (Infinity: never), and whether it may have failed already. */
export type NodeFinding =
  | { readonly kind: 'failed'; readonly failed: FailedNode }
  | { readonly kind: 'notYet'; readonly leftMs: number; readonly mayHaveFailed: boolean }

/** Failure rules in order; the first that applies wins. Rules that name a container come first, because they explain most. */
const reasons: readonly ((node: NodeCase) => FailedNode | null)[] = [
  trouble,
  outOfMemory,
  tooManyRestarts,
  nodeNotReady,
  notPlaced,
  notInTime,
]

/** Decides whether the new version failed on one node. */
export function judgeNode(node: NodeCase): NodeFinding {
  for (const reason of reasons) {
    const failed = reason(node)
    if (failed !== null) return { kind: 'failed', failed }
  }
  const { suspect, terms, monotonicMs } = node
  const doubtMs = suspect.lostFromMs === undefined || terms.ignoreReasons.has('NodeNotReady') ? null : suspect.lostFromMs - monotonicMs
  return { kind: 'notYet', leftMs: Math.min(leftMs(node), doubtMs ?? Number.POSITIVE_INFINITY), mayHaveFailed: doubtMs !== null }
}

/** Waiting reasons that are temporary or have their own deadline. */
const passing: ReadonlySet<string> = new Set(['Error', 'Completed', 'Unschedulable'])

/** Any other waiting reason, or a pod that has ended, fails the node at once. */
function trouble(node: NodeCase): FailedNode | null {
  const { pod } = node.suspect
  if (pod?.trouble === undefined || passing.has(pod.trouble.reason) || node.terms.ignoreReasons.has(pod.trouble.reason)) return null
  return failedBy(node, pod.trouble.reason, pod.trouble)
}

/** One kill fails the node, even if the container runs again; kills before the update or before the node was healthy do not count. */
function outOfMemory(node: NodeCase): FailedNode | null {
  const { pod } = node.suspect
  if (pod?.crash?.reason !== 'OOMKilled' || node.terms.ignoreReasons.has('OOMKilled') || restartsOn(node) <= 0) return null
  return failedBy(node, 'OOMKilled', pod.crash)
}

function tooManyRestarts(node: NodeCase): FailedNode | null {
  const { pod } = node.suspect
  return restartsOn(node) > node.terms.maxRestarts ? failedBy(node, 'TooManyRestarts', pod?.trouble ?? pod?.crash) : null
}

/** G6: counts only after its kubelet acknowledged the new pod. */
function nodeNotReady(node: NodeCase): FailedNode | null {
  const { suspect, terms } = node
  if (!suspect.hasLostNode || terms.ignoreReasons.has('NodeNotReady')) return null
  return failedBy(node, 'NodeNotReady', { reason: '', message: 'the node became NotReady after its kubelet had started the new pod' })
}

function notPlaced(node: NodeCase): FailedNode | null {
  if (!isUnplaced(node.suspect) || sameStateMs(node.suspect, node.watched, node.times) < node.terms.schedulingDeadlineMs) return null
  const seconds = Math.round(node.terms.schedulingDeadlineMs / 1000)
  const why = node.createRefused === undefined ? '' : `: ${node.createRefused}`
  if (node.suspect.isMissing) return failedBy(node, 'FailedCreate', { reason: '', message: `no pod was created in ${seconds} s${why}` })
  return failedBy(node, 'Unschedulable', node.suspect.pod?.trouble)
}

/** Progress deadline. A Ready pod never exceeds it: it waits only for minReadySeconds. The time before its pod was created counts also where its kubelet cannot see the pod. */
function notInTime(node: NodeCase): FailedNode | null {
  const { suspect, watched, terms, times } = node
  if (!suspect.isDown || suspect.pod?.ready === true || downTimeMs(suspect, watched, times) < terms.progressDeadlineMs) return null
  const state = suspect.pod?.trouble?.message ?? suspect.pod?.trouble?.reason
  const message = `no available pod for ${Math.round(terms.progressDeadlineMs / 1000)} s${state === undefined ? '' : `: ${state}`}`
  return failedBy(node, 'ProgressDeadlineExceeded', { ...suspect.pod?.trouble, reason: '', message })
}

function leftMs({ suspect, watched, terms, times }: NodeCase): number {
  if (!suspect.isDown || suspect.pod?.ready === true || suspect.unseenSinceMs !== undefined) return Number.POSITIVE_INFINITY
  if (times.stopped?.since !== undefined) return Number.POSITIVE_INFINITY
  const progressMs = terms.progressDeadlineMs - downTimeMs(suspect, watched, times)
  return isUnplaced(suspect) ? Math.min(progressMs, terms.schedulingDeadlineMs - sameStateMs(suspect, watched, times)) : progressMs
}

function isUnplaced({ isMissing, pod }: Suspect): boolean {
  return isMissing || pod?.trouble?.reason === 'Unschedulable'
}

function restartsOn({ suspect, watched }: NodeCase): number {
  return restartsSinceUpdate(suspect, watched)
}

function failedBy(node: NodeCase, reason: string, detail: PodTrouble | undefined): FailedNode {
  const restarts = restartsOn(node)
  return {
    node: node.suspect.node,
    reason,
    ...(detail?.container !== undefined && { container: detail.container }),
    ...(detail?.exitCode !== undefined && { exitCode: detail.exitCode }),
    ...(restarts > 0 && { restarts }),
    ...(detail?.message !== undefined && { message: detail.message }),
  }
}
