import type { FailedNode, WatchedNode } from '@tranche/api-schema'
import type { PodTrouble } from '@tranche/fleet'
import { downTimeMs, sameStateMs, type Times } from './down-time.ts'
import type { FailureTerms } from './failure-terms.ts'
import { restartsSinceUpdate } from './restarts.ts'
import type { Suspect } from './suspects.ts'

/** What the rules look at on one node. */
export interface NodeCase {
  readonly suspect: Suspect
  /** What is remembered of it. */
  readonly watched: WatchedNode | undefined
  readonly terms: FailureTerms
  readonly times: Times
  /** Why no pod can be created, in the words of the API server; undefined where that is not known. */
  readonly createRefused?: string | undefined
}

/** The new version failed on the node, or will have by the clock alone in so many milliseconds (Infinity: never). */
export type NodeFinding = { readonly kind: 'failed'; readonly failed: FailedNode } | { readonly kind: 'notYet'; readonly leftMs: number }

/** Why a node failed, the first that holds: what names a container comes first, for it says most. */
const reasons: readonly ((node: NodeCase) => FailedNode | null)[] = [
  trouble,
  outOfMemory,
  tooManyRestarts,
  nodeNotReady,
  notPlaced,
  notInTime,
]

/** Judges one node. */
export function judgeNode(node: NodeCase): NodeFinding {
  for (const reason of reasons) {
    const failed = reason(node)
    if (failed !== null) return { kind: 'failed', failed }
  }
  return { kind: 'notYet', leftMs: leftMs(node) }
}

/** What a container passes through, or what has a deadline of its own. */
const passing: ReadonlySet<string> = new Set(['Error', 'Completed', 'Unschedulable'])

/** Every waiting reason, and a pod that has ended, fail the node at once. */
function trouble(node: NodeCase): FailedNode | null {
  const { pod } = node.suspect
  if (pod?.trouble === undefined || passing.has(pod.trouble.reason) || node.terms.ignoreReasons.has(pod.trouble.reason)) return null
  return failedBy(node, pod.trouble.reason, pod.trouble)
}

/** One kill is enough, also where the container runs again; one from before the update, or from before its node was well, is not. */
function outOfMemory(node: NodeCase): FailedNode | null {
  const { pod } = node.suspect
  if (pod?.crash?.reason !== 'OOMKilled' || node.terms.ignoreReasons.has('OOMKilled') || restartsOn(node) <= 0) return null
  return failedBy(node, 'OOMKilled', pod.crash)
}

function tooManyRestarts(node: NodeCase): FailedNode | null {
  const { pod } = node.suspect
  return restartsOn(node) > node.terms.maxRestarts ? failedBy(node, 'TooManyRestarts', pod?.trouble ?? pod?.crash) : null
}

/** G6: its kubelet had taken the new pod up before. */
function nodeNotReady(node: NodeCase): FailedNode | null {
  const { suspect, terms } = node
  if (!suspect.hasLostNode || terms.ignoreReasons.has('NodeNotReady')) return null
  return failedBy(node, 'NodeNotReady', { reason: '', message: 'the node turned NotReady after its kubelet had taken up the new pod' })
}

function notPlaced(node: NodeCase): FailedNode | null {
  if (!isUnplaced(node.suspect) || sameStateMs(node.suspect, node.watched, node.times) < node.terms.schedulingDeadlineMs) return null
  const seconds = Math.round(node.terms.schedulingDeadlineMs / 1000)
  const why = node.createRefused === undefined ? '' : `: ${node.createRefused}`
  if (node.suspect.isMissing) return failedBy(node, 'FailedCreate', { reason: '', message: `no pod was created in ${seconds} s${why}` })
  return failedBy(node, 'Unschedulable', node.suspect.pod?.trouble)
}

/** A Ready pod waits for nothing but minReadySeconds, however long those are. */
function notInTime(node: NodeCase): FailedNode | null {
  const { suspect, watched, terms, times } = node
  if (!suspect.isDown || suspect.pod?.ready === true || downTimeMs(suspect, watched, times) < terms.progressDeadlineMs) return null
  const state = suspect.pod?.trouble?.message ?? suspect.pod?.trouble?.reason
  const message = `no available pod for ${Math.round(terms.progressDeadlineMs / 1000)} s${state === undefined ? '' : `: ${state}`}`
  return failedBy(node, 'ProgressDeadlineExceeded', { ...suspect.pod?.trouble, reason: '', message })
}

function leftMs({ suspect, watched, terms, times }: NodeCase): number {
  if (!suspect.isDown || suspect.pod?.ready === true || times.stopped?.since !== undefined) return Number.POSITIVE_INFINITY
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
