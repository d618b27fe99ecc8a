import type { Pod } from '@tranche/kube-types'
import type { Eligibility } from '../placement/node-eligibility.ts'
import { isAvailable, isTerminating, minReadyMsOf } from './pod-facts.ts'
import { isUpdated, type Target } from './pod-template.ts'
import { allowsSurge } from './strategy.ts'

/** What a rolling update makes of one node. The first four are known without surge, the others with it. */
export type RollingState =
  /** Nothing to do, and no limit used up. */
  | { readonly kind: 'settled' }
  /** Uses up one of maxUnavailable. */
  | { readonly kind: 'unavailable' }
  /** An old pod that is not available: goes at once, and uses up one of maxUnavailable. */
  | { readonly kind: 'replaceNow'; readonly pod: Pod }
  /** An old pod that is available: goes when maxUnavailable has room. */
  | { readonly kind: 'candidate'; readonly pod: Pod }
  /** Uses up one of maxSurge. */
  | { readonly kind: 'surging' }
  /** The old pod is not available: a new one joins it at once. */
  | { readonly kind: 'surgeNow' }
  /** The old pod is available: a new one joins it when maxSurge has room. */
  | { readonly kind: 'surgeCandidate' }
  /** The old pod goes at once: the new one is available, or none should run there and this one does not serve. */
  | { readonly kind: 'retire'; readonly pod: Pod }
  /** An old available pod where none should run: goes as far as enough others are available. */
  | { readonly kind: 'setAside'; readonly pod: Pod }
  /** An old pod of a node that has vanished, of which nobody can say whether it should run there. */
  | { readonly kind: 'lost' }

/** One node as a DaemonSet sees it. */
export interface Situation {
  readonly target: Target
  /** undefined when there is no such node (any more) */
  readonly eligibility: Eligibility | undefined
  /** The DaemonSet's pods there by precedence, without those that have ended and are terminating. */
  readonly pods: readonly Pod[]
  readonly nowMs: number
}

/** @returns what a rolling update does about the node, by the strategy that the DaemonSet has */
export function rollingStateOf(situation: Situation): RollingState {
  return allowsSurge(situation.target.daemonSet) ? surgeStateOf(situation) : limitStateOf(situation)
}

/** @returns whether the pod that counts, the old one if there is one, is available; nodes where none should run count too */
export function isServing(situation: Situation): boolean {
  const kinds = kindsOf(situation)
  const counts = kinds?.old ?? kinds?.fresh
  return counts !== undefined && isAvailableNow(counts, situation)
}

const settled: RollingState = { kind: 'settled' }
const unavailable: RollingState = { kind: 'unavailable' }
const surging: RollingState = { kind: 'surging' }

function limitStateOf(situation: Situation): RollingState {
  if (situation.pods.length === 0 && situation.eligibility?.shouldRun !== true) return settled
  const { old, fresh } = kindsOf(situation) ?? {}
  if ((old === undefined) === (fresh === undefined)) return unavailable
  if (old === undefined) return isAvailableNow(fresh!, situation) ? settled : unavailable
  return isAvailableNow(old, situation) ? { kind: 'candidate', pod: old } : { kind: 'replaceNow', pod: old }
}

function surgeStateOf(situation: Situation): RollingState {
  const kinds = kindsOf(situation)
  if (kinds === undefined) return surging
  const { old, fresh } = kinds
  if (old === undefined) return settled
  if (fresh !== undefined) return isAvailableNow(fresh, situation) ? { kind: 'retire', pod: old } : surging
  if (situation.eligibility === undefined) return { kind: 'lost' }
  const { shouldRun } = situation.eligibility
  if (isAvailableNow(old, situation)) return shouldRun ? { kind: 'surgeCandidate' } : { kind: 'setAside', pod: old }
  return shouldRun ? { kind: 'surgeNow' } : { kind: 'retire', pod: old }
}

/** @returns the old and the new pod of those not terminating; undefined when there are several of one kind */
function kindsOf({ target, pods }: Situation): { readonly old: Pod | undefined; readonly fresh: Pod | undefined } | undefined {
  let old: Pod | undefined
  let fresh: Pod | undefined
  for (const pod of pods) {
    if (isTerminating(pod)) continue
    if (isUpdated(pod, target)) {
      if (fresh !== undefined) return undefined
      fresh = pod
    } else {
      if (old !== undefined) return undefined
      old = pod
    }
  }
  return { old, fresh }
}

function isAvailableNow(pod: Pod, { target, nowMs }: Situation): boolean {
  return isAvailable(pod, minReadyMsOf(target.daemonSet), nowMs)
}
