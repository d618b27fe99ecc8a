import type { DaemonSet } from '@tranche/kube-types'
import { tallyNodes } from '../pass/node-tally.ts'
import type { RolloutView } from './rollout-view.ts'

/** How the DaemonSet does while no release runs. */
export interface CurrentText {
  readonly text: string
  /** When the count changes by the clock alone (minReadySeconds); null when it does not. */
  readonly availableInMs: number | null
}

/** Says which revision is current, and on how many of the desired nodes a pod is available. */
export function currentText({ fleet, monotonicMs }: RolloutView, { spec }: DaemonSet, revision: string): CurrentText {
  const minReadyMs = (spec.minReadySeconds ?? 0) * 1000
  const { desired, unavailable, nextAvailableMs } = tallyNodes(fleet, { revision, minReadyMs, monotonicMs })
  const leftMs = nextAvailableMs === null ? null : nextAvailableMs - monotonicMs
  return {
    text: `revision ${revision} is current; ${desired - unavailable.length} of ${desired} nodes are available`,
    availableInMs: leftMs !== null && leftMs > 0 ? leftMs : null,
  }
}
