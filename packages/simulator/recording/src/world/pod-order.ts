import type { RecordedNode, RecordedPod } from '../record/recorded-write.ts'
import { byText, compareByRules, type RecordedNodeRules } from './terms.ts'

/** Old pod that the executor may choose. */
export interface Candidate {
  readonly uid: string
  readonly node: string
  readonly pod: RecordedPod
  /** It runs neither the revision being released nor the stable one. */
  readonly superseded: boolean
  readonly place: RecordedNode
}

/** Compares two pods in the order of G5. @param rules of the policy @default none @returns below 0 when `a` comes before `b` */
export function compareCandidates(a: Candidate, b: Candidate, rules: RecordedNodeRules = {}): number {
  return (
    Number(b.superseded) - Number(a.superseded) ||
    illness(b.pod) - illness(a.pod) ||
    compareByRules(rules, { node: a.place, created: a.pod.created ?? '' }, { node: b.place, created: b.pod.created ?? '' }) ||
    byText(a.pod.created ?? '', b.pod.created ?? '') ||
    byText(a.pod.name, b.pod.name)
  )
}

/** Whether the items are in ascending order. */
export function isSorted<T>(items: readonly T[], compare: (a: T, b: T) => number): boolean {
  return items.every((item, at) => at === 0 || compare(items[at - 1]!, item) <= 0)
}

const CRASHES: ReadonlySet<string> = new Set(['CrashLoopBackOff', 'RunContainerError', 'Error', 'OOMKilled'])

/** 4 failed, 3 crashing, 2 pending, 1 not ready, 0 healthy. */
function illness({ phase, ready, waiting }: RecordedPod): number {
  if (phase === 'Failed') return 4
  if (ready) return 0
  if (waiting !== undefined && CRASHES.has(waiting)) return 3
  return phase === 'Pending' ? 2 : 1
}
