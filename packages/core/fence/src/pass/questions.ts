import type { Permit } from '@tranche/api-schema'
import { availableFromMs, type FleetPod } from '@tranche/fleet'
import { permitId } from '../record/flight-record.ts'
import type { TrackedPermit, FenceState } from './fence-state.ts'

/** Live reads needed before permits leave or free their budget (F6); at least one list has entries. */
export interface Questions {
  readonly pods: readonly PodToConfirm[]
  readonly nodes: readonly NodeToConfirm[]
}

/** A pod that the clock has made available, and the permits of its node that settle if the read confirms it. */
export interface PodToConfirm {
  /** The pod as our view shows it. */
  readonly pod: FleetPod
  readonly permits: readonly Permit[]
  /** How long (ms, ≥ 0) it has been available by the clock. */
  readonly overdueMs: number
}

/** A node that our view lacks, or shows as not desired, and its permits, which leave if the read confirms it. */
export interface NodeToConfirm {
  readonly node: string
  readonly permits: readonly Permit[]
}

/** F6: the pods and nodes to read now, each once, however many permits wait for them; null without any. */
export function questionsOf(fence: FenceState): Questions | null {
  const due = fence.permits.filter((tracked) => tracked.unconfirmed !== undefined && askAgainMs(fence, tracked) <= fence.view.monotonicMs)
  return due.length === 0 ? null : { pods: podsToConfirm(fence, due), nodes: nodesToConfirm(due) }
}

/** When (monotonic) the next failed or contradicting read is repeated; null without one. */
export function nextReadMs(fence: FenceState): number | null {
  const times = fence.permits.flatMap((tracked) => (tracked.unconfirmed === undefined ? [] : [askAgainMs(fence, tracked)]))
  return times.length === 0 ? null : Math.min(...times)
}

function podsToConfirm({ availability: { minReadyMs, monotonicMs } }: FenceState, due: readonly TrackedPermit[]): readonly PodToConfirm[] {
  const byPod = new Map<string, { readonly pod: FleetPod; readonly permits: Permit[] }>()
  for (const { permit, unconfirmed } of due) {
    if (unconfirmed?.kind !== 'pod') continue
    const { pod } = unconfirmed
    const known = byPod.get(pod.uid)
    if (known === undefined) byPod.set(pod.uid, { pod, permits: [permit] })
    else known.permits.push(permit)
  }
  return [...byPod.values()].map((one) => ({ ...one, overdueMs: monotonicMs - (availableFromMs(one.pod, minReadyMs) ?? monotonicMs) }))
}

/** One question for each node; the watermark does not cover nodes (L11). */
function nodesToConfirm(due: readonly TrackedPermit[]): readonly NodeToConfirm[] {
  const left = due.filter(({ unconfirmed }) => unconfirmed?.kind === 'node').map(({ permit }) => permit)
  return [...Map.groupBy(left, ({ node }) => node)].map(([node, permits]) => ({ node, permits }))
}

/** At once where our view of the pod has moved since the last read. A node that came into view is not read again. */
function askAgainMs({ view }: FenceState, { permit, unconfirmed }: TrackedPermit): number {
  const known = view.confirmations.get(permitId(permit))
  const podVersion = unconfirmed?.kind === 'pod' ? unconfirmed.pod.resourceVersion : null
  return known?.kind === 'open' && known.podVersion === podVersion ? known.againAtMs : view.monotonicMs
}
