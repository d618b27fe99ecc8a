import type { Pod } from '@tranche/kube-types'
import type { Eligibility } from '../../placement/node-eligibility.ts'
import { isAvailable, isTerminating, minReadyMsOf } from './pod-facts.ts'
import { isUpdated, type Target } from './pod-template.ts'
import { allowsSurge } from './strategy.ts'

/** State of one node in a rolling update. The first four occur without surge, the others with it. */
export type RollingState =
  /** Nothing to do; counts towards no limit. */
  | { readonly kind: 'settled' }
  /** Counts towards maxUnavailable. */
  | { readonly kind: 'unavailable' }
  /** An unavailable old pod: deleted at once; counts towards maxUnavailable. */
  | { readonly kind: 'replaceNow'; readonly pod: Pod }
  /** An available old pod: deleted when maxUnavailable allows it. */
  | { readonly kind: 'candidate'; readonly pod: Pod }
  /** Counts towards maxSurge. */
  | { readonly kind: 'surging' }
  /** The old pod is not available: a new one is created at once. */
  | { readonly kind: 'surgeNow' }
  /** The old pod is available: a new one is created when maxSurge allows it. */
  | { readonly kind: 'surgeCandidate' }
  /** The old pod is deleted at once: the new one is available, or none should run there and this one is not available. */
  | { readonly kind: 'retire'; readonly pod: Pod }
  /** An old available pod where none should run: deleted as far as enough others are available. */
  | { readonly kind: 'setAside'; readonly pod: Pod }
  /** An old pod of a deleted node, for which eligibility is unknown. */
  | { readonly kind: 'lost' }

/** One node from the point of view of a DaemonSet. */
export interface Situation {
  readonly target: Target
  /** Undefined when no such node exists. */
  readonly eligibility: Eligibility | undefined
  /** The DaemonSet's pods on the node in order of precedence, without terminating pods that have ended. */
  readonly pods: readonly Pod[]
  readonly nowMs: number
}

/** @returns state of the node under the DaemonSet's strategy */
export function rollingStateOf(situation: Situation): RollingState {
  return allowsSurge(situation.target.daemonSet) ? surgeStateOf(situation) : limitStateOf(situation)
}

/** @returns whether the relevant pod (the old one if there is one) is available; includes nodes where none should run */
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

/** @returns the old and the new pod that are not terminating; undefined when there are several of one kind */
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
