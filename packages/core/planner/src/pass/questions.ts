import type { Permit } from '@tranche/api-schema'
import { availableFromMs, type FleetPod } from '@tranche/fleet'
import { permitId } from '@tranche/flight'
import type { TrackedPermit, FenceState } from './fence-state.ts'

/** What a live read is to tell before permits leave, or give their place away (F6); never both lists empty. */
export interface Questions {
  readonly pods: readonly PodToConfirm[]
  readonly nodes: readonly NodeToConfirm[]
}

/** A pod that the clock has made available, and the permits of its node that have settled if it is so in truth. */
export interface PodToConfirm {
  /** As our view shows it. */
  readonly pod: FleetPod
  readonly permits: readonly Permit[]
  /** For how long it has been available by the clock, in milliseconds (≥ 0). */
  readonly overdueMs: number
}

/** A node that our view does not have, or not as a desired one, and its permits, which have left if it is so in truth. */
export interface NodeToConfirm {
  readonly node: string
  readonly permits: readonly Permit[]
}

/** F6: the pods and nodes to read now, each once, however many permits wait for it; null where there is none. */
export function questionsOf(fence: FenceState): Questions | null {
  const due = fence.permits.filter((tracked) => tracked.unconfirmed !== undefined && askAgainMs(fence, tracked) <= fence.view.monotonicMs)
  return due.length === 0 ? null : { pods: podsToConfirm(fence, due), nodes: nodesToConfirm(due) }
}

/** When what was asked about in vain is to be read again (monotonic); null where nothing waits for that. */
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

/** That a node is not in our view may only mean that its watch has not got so far: the watermark says nothing of nodes. */
function nodesToConfirm(due: readonly TrackedPermit[]): readonly NodeToConfirm[] {
  const left = due.filter(({ unconfirmed }) => unconfirmed?.kind === 'node').map(({ permit }) => permit)
  return [...new Set(left.map(({ node }) => node))].map((node) => ({ node, permits: left.filter((permit) => permit.node === node) }))
}

/** At once, where our view of a pod has moved since it was asked about. A node that has come into view is not asked about any more. */
function askAgainMs({ view }: FenceState, { permit, unconfirmed }: TrackedPermit): number {
  const known = view.confirmations.get(permitId(permit))
  const podVersion = unconfirmed?.kind === 'pod' ? unconfirmed.pod.resourceVersion : null
  return known?.kind === 'open' && known.podVersion === podVersion ? known.againAtMs : view.monotonicMs
}
