import { availableFromMs, type FleetPod, type NodeView } from '@tranche/fleet'
import { parseTime } from '@tranche/kube-types'
import type { AgentReturn } from './node-downtime.ts'

/** Times of {@link agentReturn}. */
export interface ReturnTimes {
  /** spec.minReadySeconds in milliseconds. */
  readonly minReadyMs: number
  /** Now, in epoch milliseconds by the clock of the API server. */
  readonly nowMs: number
  /** Now, on the monotonic clock of the pods. */
  readonly monotonicMs: number
}

/**
 * Whether the agent of a node is back after its pod was deleted, as the watches show. It is back once its new pod is available. That time comes from
 * the Ready condition, which the kubelet stamps. It is at least `minReadySeconds` after the creation of the pod, by the clock of the API server, and
 * at most the time at which this process saw it.
 *
 * @param podUid pod that was deleted, or was about to be
 */
export function agentReturn(view: NodeView | undefined, podUid: string, times: ReturnTimes): AgentReturn {
  const pods = view?.pods.filter(({ terminating }) => !terminating) ?? []
  const own = pods.find(({ uid }) => uid === podUid)
  if (own !== undefined) return { kind: 'stayed', atMs: backAtMs(own, times) }
  const back = pods.flatMap((pod) => backAtMs(pod, times) ?? [])
  return back.length === 0 ? { kind: 'away' } : { kind: 'back', atMs: Math.min(...back) }
}

/** Epoch milliseconds; null for a pod that is not available. */
function backAtMs(pod: FleetPod, { minReadyMs, nowMs, monotonicMs }: ReturnTimes): number | null {
  const fromMs = availableFromMs(pod, minReadyMs)
  if (fromMs === null || fromMs > monotonicMs) return null
  const seenMs = nowMs - (monotonicMs - fromMs)
  const stampedMs = parseTime(pod.readyStamp)
  const createdMs = parseTime(pod.createdAt)
  if (stampedMs === null || createdMs === null) return seenMs
  return Math.min(seenMs, Math.max(stampedMs, createdMs) + minReadyMs)
}
