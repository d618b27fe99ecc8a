import type { DaemonSet } from '@tranche/kube-types'
import { tallyNodes } from '@tranche/fence'
import { nodeInView } from '@tranche/fleet'
import { outageStart } from '../../release/progress/left-nodes.ts'
import { firstNodes } from '../../release/progress/unwell-text.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** State of the DaemonSet while no release runs. */
export interface CurrentText {
  readonly text: string
  /** Milliseconds until the clock alone (minReadySeconds) changes the count; null where it does not. */
  readonly availableInMs: number | null
}

/** Names the current revision, how many desired nodes have an available pod, and those that have none. */
export function currentText({ fleet, monotonicMs }: RolloutView, { spec }: DaemonSet, revision: string): CurrentText {
  const minReadyMs = (spec.minReadySeconds ?? 0) * 1000
  const { desired, unavailable, nextAvailableMs } = tallyNodes(fleet, { revision, minReadyMs, monotonicMs })
  const leftMs = nextAvailableMs === null ? null : nextAvailableMs - monotonicMs
  const names = unavailable.map(({ name }) => name)
  const named = names.length === 0 ? '' : `; not available: ${firstNodes(names, (name) => sinceText(fleet, name))}`
  return {
    text: `revision ${revision} is current; ${desired - names.length} of ${desired} nodes are available${named}`,
    availableInMs: leftMs !== null && leftMs > 0 ? leftMs : null,
  }
}

/** A node that is Ready has no outage: its pod may only be starting. */
function sinceText(fleet: RolloutView['fleet'], name: string): string {
  const node = nodeInView(fleet, name)
  const since = node === undefined || node.ready ? undefined : outageStart(node)
  return since === undefined ? name : `${name} since ${since}`
}
