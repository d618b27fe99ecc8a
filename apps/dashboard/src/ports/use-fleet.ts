import type { ApiKey } from '@tranche/api-client'
import type { RolloutSummary } from '@tranche/api-schema'
import { useSyncExternalStore } from 'react'
import { usePorts } from './dashboard-ports.ts'
import { type FleetSnapshot, type LiveState, textOfKey } from '../live/release-store.ts'

/** @returns the whole fleet; renews the calling part with each change */
export function useFleet(): FleetSnapshot {
  const { releases } = usePorts()
  return useSyncExternalStore(releases.subscribe, releases.snapshot)
}

/** @returns one Rollout of the fleet; renews the calling part only when that Rollout changes */
export function useSummary(key: ApiKey): RolloutSummary | undefined {
  const { releases } = usePorts()
  return useSyncExternalStore(releases.subscribe, () => releases.snapshot().rollouts.get(textOfKey(key)))
}

/** @returns whether the whole fleet has arrived without this Rollout; renews the calling part only when that changes */
export function useIsGone(key: ApiKey): boolean {
  const { releases } = usePorts()
  return useSyncExternalStore(releases.subscribe, () => {
    const { isComplete, rollouts } = releases.snapshot()
    return isComplete && !rollouts.has(textOfKey(key))
  })
}

/** @returns the state of the stream; renews the calling part only when that changes */
export function useLiveState(): LiveState {
  const { releases } = usePorts()
  return useSyncExternalStore(releases.subscribe, () => releases.snapshot().live)
}
