import type { Permit } from '@tranche/api-schema'
import { availableFromMs, type FleetPod } from '@tranche/fleet'
import { permitId } from '@tranche/flight'
import type { FlownPermit, Scene } from './scene.ts'

/** A pod that the clock has made available, and the permits of its node that have settled if it is so in truth (F6). */
export interface PodToConfirm {
  /** As our view shows it. */
  readonly pod: FleetPod
  readonly permits: readonly Permit[]
  /** For how long it has been available by the clock, in milliseconds (≥ 0). */
  readonly overdueMs: number
}

/** F6: the pods to read now; each once, however many permits of its node wait for it. */
export function podsToConfirm(scene: Scene): readonly PodToConfirm[] {
  const { minReadyMs, monotonicMs } = scene.availability
  const byPod = new Map<string, { readonly pod: FleetPod; readonly permits: Permit[] }>()
  for (const flown of scene.permits) {
    const pod = flown.unconfirmed
    if (pod === undefined || askAgainMs(scene, flown, pod) > monotonicMs) continue
    const known = byPod.get(pod.uid)
    if (known === undefined) byPod.set(pod.uid, { pod, permits: [flown.permit] })
    else known.permits.push(flown.permit)
  }
  return [...byPod.values()].map((one) => ({ ...one, overdueMs: monotonicMs - (availableFromMs(one.pod, minReadyMs) ?? monotonicMs) }))
}

/** When a pod that was asked about in vain is to be read again (monotonic); null where none waits for that. */
export function nextReadMs(scene: Scene): number | null {
  const times = scene.permits.flatMap((flown) => (flown.unconfirmed === undefined ? [] : askAgainMs(scene, flown, flown.unconfirmed)))
  return times.length === 0 ? null : Math.min(...times)
}

/** At once, where our view of the pod has moved since it was asked about. */
function askAgainMs({ view }: Scene, { permit }: FlownPermit, { resourceVersion }: FleetPod): number {
  const known = view.confirmations.get(permitId(permit))
  return known?.kind === 'open' && known.podVersion === resourceVersion ? known.againAtMs : view.monotonicMs
}
