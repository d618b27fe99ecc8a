import type { Clock } from '@tranche/clock'
import { createReflector, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { keyOf, type Lease, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import type { LeasePort, LeaseWatch } from '@tranche/reconcile'

/** Implements the leader election port with one Lease, always read from the API server, never from a cache. */
export function createLeasePort(client: KubeClient, key: ObjectKey): LeasePort {
  return {
    async read(signal) {
      try {
        return await client.get<Lease>(resourcePaths.leases, key, { signal })
      } catch (error) {
        if (isNotFound(error)) return null
        throw error
      }
    },
    async create(spec, signal) {
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: key.name, namespace: key.namespace }, spec }
      return (await client.create(resourcePaths.leases, lease, { signal })) as unknown as Lease
    },
    async update(lease, signal) {
      return client.update<Lease>(resourcePaths.leases, { ...lease, metadata: { ...lease.metadata, ...keyOf(lease) } }, { signal })
    },
  }
}

/** Dependencies of {@link createLeaseWatch}. */
export interface LeaseWatchParts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** Seed of the reconnect jitter. */
  readonly seed: number
}

/** Watches only the one Lease, so that a Role can restrict it by name. Reconnects after any error. */
export function createLeaseWatch(parts: LeaseWatchParts, { namespace, name }: ObjectKey): LeaseWatch {
  return (onSeen, signal) => {
    const scope = { namespace, fieldSelector: `metadata.name=${name}` }
    const leases = createReflector<Lease, Lease>({ ...parts, resource: resourcePaths.leases, scope, transform: (lease) => lease })
    leases.subscribe({ onChange: (_key, _previous, current) => onSeen(current ?? null) })
    leases.start(signal).catch((error: unknown) => parts.log.error({ err: error }, 'stopped watching the Lease'))
  }
}
