import { isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { keyOf, type Lease, type ObjectKey } from '@tranche/kube-types'
import type { LeasePort } from '@tranche/reconcile'

/** Leader election's port: one Lease at the API server, never from a cache. */
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
