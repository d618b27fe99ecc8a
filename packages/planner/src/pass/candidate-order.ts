import type { FleetPod, NodeView } from '@tranche/fleet'
import { isOld } from '../old-nodes.ts'

/** An old pod that might be deleted next. */
export interface Candidate {
  readonly node: NodeView
  readonly pod: FleetPod
}

/** The revisions by which order is decided. */
export interface Revisions {
  readonly canary: string
  /** Undefined where it is not known: then no pod counts as superseded. */
  readonly stable: string | undefined
}

/**
 * The first `count` candidates among `nodes` in the order of G5: superseded revisions first; then failed, crashing,
 * pending, not ready, healthy; then the oldest, then by name. A node that is NotReady is passed over, and done when it
 * is back. The same cluster gives the same choice, whatever the order of `nodes`.
 */
export function firstCandidates(nodes: readonly NodeView[], revisions: Revisions, count: number): readonly Candidate[] {
  if (count <= 0) return []
  const first: Candidate[] = []
  for (const node of nodes) {
    const candidate = node.ready ? candidateOn(node, revisions) : undefined
    if (candidate !== undefined) keepFirst(first, candidate, revisions, count)
  }
  return first
}

/** A node gives one pod at a time: the first of its old ones. */
function candidateOn(node: NodeView, revisions: Revisions): Candidate | undefined {
  let first: Candidate | undefined
  for (const pod of node.pods) {
    if (!isOld(pod, revisions.canary)) continue
    const candidate = { node, pod }
    if (first === undefined || compareCandidates(candidate, first, revisions) < 0) first = candidate
  }
  return first
}

/** Puts the candidate in its place among the first `count`, if it is one of them: most of thousands are compared once. */
function keepFirst(first: Candidate[], candidate: Candidate, revisions: Revisions, count: number): void {
  const last = first.at(-1)
  if (first.length === count && last !== undefined && compareCandidates(candidate, last, revisions) > 0) return
  let low = 0
  let high = first.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareCandidates(candidate, first[middle]!, revisions) < 0) high = middle
    else low = middle + 1
  }
  first.splice(low, 0, candidate)
  if (first.length > count) first.pop()
}

function compareCandidates(a: Candidate, b: Candidate, revisions: Revisions): number {
  return (
    supersededRank(a.pod, revisions) - supersededRank(b.pod, revisions) ||
    healthRank(a.pod) - healthRank(b.pod) ||
    compareText(a.pod.createdAt, b.pod.createdAt) ||
    compareText(a.pod.name, b.pod.name)
  )
}

function supersededRank(pod: FleetPod, revisions: Revisions): number {
  return revisions.stable !== undefined && pod.hash !== revisions.stable && pod.hash !== revisions.canary ? 0 : 1
}

/** Failed 0, crashing 1, pending 2, not ready 3, healthy 4. */
function healthRank(pod: FleetPod): number {
  if (pod.phase === 'Failed') return 0
  if (pod.ready) return 4
  if (pod.trouble !== undefined && crashes.has(pod.trouble.reason)) return 1
  return pod.phase === 'Pending' ? 2 : 3
}

const crashes: ReadonlySet<string> = new Set(['CrashLoopBackOff', 'OOMKilled', 'Error', 'RunContainerError'])

/** By code unit, not by locale: the order must not depend on the machine. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
