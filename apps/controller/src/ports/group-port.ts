import type { BatchRelease } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { WatchedCluster } from '@tranche/cluster'
import type { GroupPort, ReleaseReading } from '@tranche/controllers'
import { AppError } from '@tranche/errors'
import { isConflict, isForbidden, isNotFound, type KubeClient, type KubeStatusError, resourcePaths } from '@tranche/kube-client'
import { keyOf, type Lease, type ObjectKey } from '@tranche/kube-types'
import { GROUP_LABEL, groupHolderOf, groupLeaseName, type GroupMember, groupOf, holderText, LEAVING_ANNOTATION } from '@tranche/planner'

/** Where the installation keeps the Leases of groups. */
export interface GroupSettings {
  /** Namespace of the Leases. */
  readonly namespace: string
  /** Namespaces that share their groups: a group is one over all of them. */
  readonly shared: readonly string[]
}

/** Dependencies of {@link createGroupPort}. */
export interface GroupPortParts {
  readonly client: KubeClient
  readonly cluster: Pick<WatchedCluster, 'batchReleases' | 'overlay'>
  readonly clock: Clock
  /** Undefined where the installation allows no groups. */
  readonly groups: GroupSettings | undefined
}

/** {@link GroupPort}, and the reading of the group of one release. */
export interface GroupReader extends GroupPort {
  /** @param live reads the Lease from the API server itself; otherwise a copy of a few seconds ago may do */
  group(release: BatchRelease, live: boolean, signal: AbortSignal): Promise<ReleaseReading['group']>
}

/** How long (ms) a Lease that was read is used by passes that open nothing. */
const KEPT_MS = 4_000

const NOT_ALLOWED =
  'the installation does not allow groups; set rbac.groups: true in the values of the chart (--group-namespace), or remove it from the policy'

interface Kept {
  readonly lease: Lease | null
  readonly atMs: number
}

/** Implements the port of groups with Leases in one namespace. Sends no request for a release without a group. */
export function createGroupPort(parts: GroupPortParts): GroupReader {
  const { client, clock, groups } = parts
  const kept = new Map<string, Kept>()
  const keyOfLease = (name: string) => ({ namespace: groups?.namespace ?? '', name })
  const learn = (name: string, lease: Lease | null): Lease | null => {
    kept.set(name, { lease, atMs: clock.monotonicMs() })
    return lease
  }
  async function readLease(name: string, signal: AbortSignal): Promise<Lease | null> {
    try {
      return learn(name, await client.get<Lease>(resourcePaths.leases, keyOfLease(name), { signal }))
    } catch (error) {
      if (!isNotFound(error)) throw error
      return learn(name, null)
    }
  }
  /** Writes, and forgets what was read where another program wrote first. */
  async function write(name: string, send: () => Promise<Lease | null>): Promise<void> {
    try {
      learn(name, await send())
    } catch (error) {
      kept.delete(name)
      if (!isConflict(error) && !isNotFound(error)) throw error
      throw new AppError('WRITE_CONFLICT', `Lease ${name} changed since it was read: ${error.message}`, {
        details: { object: name },
        cause: error,
      })
    }
  }
  return {
    readLease,
    takeLease: (name, lease, release, signal) =>
      write(name, async () => {
        const taken = leaseHeldBy(release, { key: keyOfLease(name), lease, nowMs: clock.nowMs() })
        if (lease === null) return (await client.create(resourcePaths.leases, { ...taken }, { signal })) as unknown as Lease
        return client.update<Lease>(resourcePaths.leases, taken, { signal })
      }),
    markLeaving: (lease, signal) =>
      write(lease.metadata.name, () => {
        const metadata = {
          ...lease.metadata,
          ...keyOf(lease),
          annotations: { ...lease.metadata.annotations, [LEAVING_ANNOTATION]: 'true' },
        }
        return client.update<Lease>(resourcePaths.leases, { ...lease, metadata }, { signal })
      }),
    deleteLease: (lease, signal) =>
      write(lease.metadata.name, async () => {
        const { uid, resourceVersion } = lease.metadata
        await client.delete(resourcePaths.leases, keyOf(lease), { preconditions: { uid, resourceVersion }, signal })
        return null
      }),
    async readHolder({ namespace, name, uid }, signal) {
      try {
        const release = await client.get<BatchRelease>(resourcePaths.batchReleases, { namespace, name }, { signal })
        return release.metadata.uid === uid ? memberOf(release, parts) : undefined
      } catch (error) {
        if (isNotFound(error)) return undefined
        throw error
      }
    },
    async group(release, live, signal) {
      const { wanted } = memberOf(release, parts)
      const name = release.status?.groupLease ?? wanted
      if (name === null) return undefined
      const read = { wanted, name, members: membersOf(release, wanted, parts) }
      if (groups === undefined) return { ...read, lease: null, holder: undefined, refused: NOT_ALLOWED }
      try {
        const before = live ? undefined : kept.get(name)
        const isFresh = before !== undefined && clock.monotonicMs() - before.atMs < KEPT_MS
        const lease = isFresh ? before.lease : await readLease(name, signal)
        return { ...read, lease, holder: holderOf(lease, parts), refused: null }
      } catch (error) {
        if (!isForbidden(error)) throw error
        return { ...read, lease: null, holder: undefined, refused: forbiddenText(error) }
      }
    },
  }
}

function forbiddenText({ message }: KubeStatusError): string {
  return `the Lease of the group cannot be read: ${message}; grant the controller the rights of docs/operations/permissions.md`
}

function leaseHeldBy(
  release: BatchRelease,
  { key, lease, nowMs }: { readonly key: ObjectKey; readonly lease: Lease | null; readonly nowMs: number },
): Lease {
  const { [LEAVING_ANNOTATION]: _left, ...annotations } = lease?.metadata.annotations ?? {}
  const labels = { ...lease?.metadata.labels, [GROUP_LABEL]: groupOf(release) ?? '' }
  const time = new Date(nowMs).toISOString().replace('Z', '000Z')
  const { uid = '', resourceVersion = '', ...metadata } = lease?.metadata ?? {}
  const version = lease === null ? {} : { uid, resourceVersion }
  return {
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
    metadata: { ...metadata, ...version, ...key, labels, annotations } as Lease['metadata'],
    spec: { ...lease?.spec, holderIdentity: holderText(release), acquireTime: time, renewTime: time },
  }
}

function memberOf(release: BatchRelease, { groups }: Pick<GroupPortParts, 'groups'>): GroupMember {
  const group = groupOf(release)
  const { namespace = '' } = release.metadata
  return { release, wanted: group === undefined ? null : groupLeaseName(group, namespace, groups?.shared.includes(namespace) ?? false) }
}

/** The other releases of the group, by the watch. */
function membersOf(release: BatchRelease, wanted: string | null, parts: GroupPortParts): readonly BatchRelease[] {
  if (wanted === null) return []
  const all = parts.cluster.batchReleases.store.list()
  return all.filter((other) => other.metadata.uid !== release.metadata.uid && memberOf(other, parts).wanted === wanted)
}

function holderOf(lease: Lease | null, parts: GroupPortParts): GroupMember | undefined {
  const holder = groupHolderOf(lease)
  if (holder === null) return undefined
  const release = parts.cluster.overlay.batchReleases.get({ namespace: holder.namespace, name: holder.name })
  return release?.metadata.uid === holder.uid ? memberOf(release, parts) : undefined
}
