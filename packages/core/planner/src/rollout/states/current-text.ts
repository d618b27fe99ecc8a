import type { DaemonSet } from '@tranche/kube-types'
import { tallyNodes } from '@tranche/fence'
import type { RolloutView } from '../view/rollout-view.ts'

/** State of the DaemonSet while no release runs. */
export interface CurrentText {
  readonly text: string
  /** Milliseconds until the clock alone (minReadySeconds) changes the count; null where it does not. */
  readonly availableInMs: number | null
}

/** Names the current revision, and how many desired nodes have an available pod. */
export function currentText({ fleet, monotonicMs }: RolloutView, { spec }: DaemonSet, revision: string): CurrentText {
  const minReadyMs = (spec.minReadySeconds ?? 0) * 1000
  const { desired, unavailable, nextAvailableMs } = tallyNodes(fleet, { revision, minReadyMs, monotonicMs })
  const leftMs = nextAvailableMs === null ? null : nextAvailableMs - monotonicMs
  return {
    text: `revision ${revision} is current; ${desired - unavailable.length} of ${desired} nodes are available`,
    availableInMs: leftMs !== null && leftMs > 0 ? leftMs : null,
  }
}
