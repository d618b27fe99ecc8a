import { type FaultInjector, resources } from '@tranche/sim-api'

/**
 * Keeps no events of the controllers of Kubernetes: there are some for each pod, and nobody reads them in a copy. They are refused, which a
 * controller takes for an event lost.
 *
 * @param controllers whose events these are
 */
export function withoutEvents(controllers: readonly string[]): FaultInjector {
  const { group, resource } = resources.events
  const writers = new Set(controllers)
  return {
    onRequest: (call) =>
      call.resource.group === group && call.resource.resource === resource && writers.has(call.actor) ? { kind: 'conflict' } : undefined,
  }
}
