import { type FaultInjector, resources } from '@tranche/sim-api'

/**
 * Stores no events of Kubernetes' controllers: each pod causes some, and nothing in a copy reads them. Refuses their creation, which a
 * controller treats as a lost event.
 *
 * @param controllers whose events are refused
 */
export function withoutEvents(controllers: readonly string[]): FaultInjector {
  const { group, resource } = resources.events
  const writers = new Set(controllers)
  return {
    onRequest: (call) =>
      call.resource.group === group && call.resource.resource === resource && writers.has(call.actor) ? { kind: 'conflict' } : undefined,
  }
}
