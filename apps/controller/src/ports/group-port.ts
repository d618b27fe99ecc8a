import type { BatchRelease } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { releasesOfGroup, type WatchedCluster } from '@tranche/cluster'
import type { GroupPort, ReleaseReading } from '@tranche/controllers'
import { AppError } from '@tranche/errors'
import { isConflict, isForbidden, isNotFound, type KubeClient, KubeStatusError, resourcePaths } from '@tranche/kube-client'
import { GROUP_LABEL, keyOf, type Lease, microTime, type ObjectKey } from '@tranche/kube-types'
import {
  groupHolderOf,
  groupLeaseName,
  type GroupMember,
  groupNameOf,
  type GroupRefusal,
  type GroupView,
  holderText,
  isGroupLeaseName,
  isInCharge,
  LEAVING_ANNOTATION,
} from '@tranche/planner'

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
  /**
   * An error status of the API server becomes a refusal, with which nothing opens.
   *
   * @param live reads the Lease from the API server itself; otherwise a copy of up to 4 s ago may do, in an outage of up to 60 s
   * @throws {AppError} if there is no response
   */
  group(release: BatchRelease, live: boolean, signal: AbortSignal): Promise<ReleaseReading['group']>
}

/** How long (ms) passes that open nothing use a Lease without reading it again. */
const FRESH_MS = 4_000
/**
 * How long (ms) they use it while the API server fails to read it again: a short outage closes no record. Then it is dropped: users may name any
 * number of groups.
 */
const OUTAGE_MS = 60_000

const NOT_ALLOWED: GroupRefusal = {
  reason: 'GroupNotAllowed',
  message:
    'the installation does not allow groups; set rbac.groups: true in the values of the chart (--group-namespace), or remove it from the policy',
}

/** Implements the port of groups with Leases in one namespace. Sends no request for a release without a group. */
export function createGroupPort(parts: GroupPortParts): GroupReader {
  const leases = new GroupLeases(parts)
  return {
    readLease: (name, signal) => leases.read(name, signal),
    takeLease: (name, lease, release, signal) => leases.take(name, { lease, release }, signal),
    markLeaving: (lease, signal) => leases.mark(lease, signal),
    deleteLease: (lease, signal) => leases.delete(lease, signal),
    async readHolder({ namespace, name, uid }, signal) {
      try {
        const release = await parts.client.get<BatchRelease>(resourcePaths.batchReleases, { namespace, name }, { signal })
        return release.metadata.uid === uid ? memberOf(release, parts) : undefined
      } catch (error) {
        if (isNotFound(error)) return undefined
        throw error
      }
    },
    group: (release, live, signal) => groupOfRelease(release, { ...parts, leases, live }, signal),
  }
}

async function groupOfRelease(
  release: BatchRelease,
  parts: GroupPortParts & { readonly leases: GroupLeases; readonly live: boolean },
  signal: AbortSignal,
): Promise<ReleaseReading['group']> {
  const { leases, live } = parts
  const { wanted } = memberOf(release, parts)
  const known = release.status?.groupLease
  const name = known !== undefined && isGroupLeaseName(known) ? known : wanted
  if (name === null) return undefined
  const read = { wanted, name, members: membersOf(release, wanted, parts) }
  if (parts.groups === undefined) return { ...read, lease: null, holder: undefined, refused: NOT_ALLOWED }
  try {
    const lease = live ? await leases.read(name, signal) : await leases.readOrKept(name, signal)
    return { ...read, lease, holder: holderOf(lease, parts), refused: null }
  } catch (error) {
    // G9: stops and deletions need no Lease, and nothing opens without one.
    if (!(error instanceof KubeStatusError)) throw error
    return { ...read, lease: null, holder: undefined, refused: unreadRefusal(error) }
  }
}

/** Leases of groups, and what this process last read or wrote of them. */
class GroupLeases {
  readonly #parts: GroupPortParts
  readonly #kept = new Map<string, { readonly lease: Lease | null; readonly atMs: number }>()

  constructor(parts: GroupPortParts) {
    this.#parts = parts
  }

  async read(name: string, signal: AbortSignal): Promise<Lease | null> {
    try {
      return this.#learn(name, await this.#parts.client.get<Lease>(resourcePaths.leases, this.#keyOf(name), { signal }))
    } catch (error) {
      if (!isNotFound(error)) throw error
      return this.#learn(name, null)
    }
  }

  async readOrKept(name: string, signal: AbortSignal): Promise<Lease | null> {
    const kept = this.#kept.get(name)
    const ageMs = kept === undefined ? Number.POSITIVE_INFINITY : this.#parts.clock.monotonicMs() - kept.atMs
    if (kept !== undefined && ageMs < FRESH_MS) return kept.lease
    try {
      return await this.read(name, signal)
    } catch (error) {
      if (kept === undefined || ageMs >= OUTAGE_MS || !isOutage(error)) throw error
      return kept.lease
    }
  }

  take(
    name: string,
    { lease, release }: { readonly lease: Lease | null; readonly release: BatchRelease },
    signal: AbortSignal,
  ): Promise<void> {
    const { client, clock } = this.#parts
    const taken = leaseHeldBy(release, { key: this.#keyOf(name), lease, nowMs: clock.nowMs() })
    return this.#write(name, async () => {
      if (lease === null) return (await client.create(resourcePaths.leases, { ...taken }, { signal })) as unknown as Lease
      return client.update<Lease>(resourcePaths.leases, taken, { signal })
    })
  }

  mark(lease: Lease, signal: AbortSignal): Promise<void> {
    const metadata = { ...lease.metadata, ...keyOf(lease), annotations: { ...lease.metadata.annotations, [LEAVING_ANNOTATION]: 'true' } }
    const { client } = this.#parts
    return this.#write(lease.metadata.name, () => client.update<Lease>(resourcePaths.leases, { ...lease, metadata }, { signal }))
  }

  delete(lease: Lease, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = lease.metadata
    return this.#write(lease.metadata.name, async () => {
      await this.#parts.client.delete(resourcePaths.leases, keyOf(lease), { preconditions: { uid, resourceVersion }, signal })
      return null
    })
  }

  /** Sends a write, and forgets what was read where another program wrote first. */
  async #write(name: string, send: () => Promise<Lease | null>): Promise<void> {
    try {
      this.#learn(name, await send())
    } catch (error) {
      this.#kept.delete(name)
      if (!isConflict(error) && !isNotFound(error)) throw error
      throw new AppError('WRITE_CONFLICT', `Lease ${name} changed since it was read: ${error.message}`, {
        details: { object: name },
        cause: error,
      })
    }
  }

  #learn(name: string, lease: Lease | null): Lease | null {
    const nowMs = this.#parts.clock.monotonicMs()
    // In the order of their reading: the oldest is first.
    this.#kept.delete(name)
    this.#kept.set(name, { lease, atMs: nowMs })
    for (const [other, { atMs }] of this.#kept) {
      if (nowMs - atMs < OUTAGE_MS) break
      this.#kept.delete(other)
    }
    return lease
  }

  #keyOf(name: string): ObjectKey {
    return { namespace: this.#parts.groups?.namespace ?? '', name }
  }
}

/** Whether the API server may answer the same request later: a token has just expired, it is overloaded, or part of it does not work. */
function isOutage(error: unknown): boolean {
  return error instanceof KubeStatusError && (error.status === 401 || error.status === 429 || error.status >= 500)
}

function unreadRefusal(error: KubeStatusError): GroupRefusal {
  const unread = `the Lease of the group cannot be read: ${error.message}`
  if (isForbidden(error))
    return { reason: 'GroupNotAllowed', message: `${unread}; grant the controller the rights of docs/operations/permissions.md` }
  return { reason: 'GroupFailed', message: `${unread}; the controller reads it again by itself; if this lasts, check the API server` }
}

function leaseHeldBy(
  release: BatchRelease,
  { key, lease, nowMs }: { readonly key: ObjectKey; readonly lease: Lease | null; readonly nowMs: number },
): Lease {
  const { [LEAVING_ANNOTATION]: _left, ...annotations } = lease?.metadata.annotations ?? {}
  const labels = { ...lease?.metadata.labels, [GROUP_LABEL]: groupNameOf(release) ?? '' }
  const time = microTime(nowMs)
  const { uid = '', resourceVersion = '', ...metadata } = lease?.metadata ?? {}
  const version = lease === null ? {} : { uid, resourceVersion }
  return {
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
    metadata: { ...metadata, ...version, ...key, labels, annotations } as Lease['metadata'],
    spec: { ...lease?.spec, holderIdentity: holderText(release), acquireTime: time, renewTime: time },
  }
}

function memberOf(release: BatchRelease, { groups }: Pick<GroupPortParts, 'groups'>): GroupMember {
  const group = groupNameOf(release)
  const { namespace = '' } = release.metadata
  return { release, wanted: group === undefined ? null : groupLeaseName(group, namespace, groups?.shared.includes(namespace) ?? false) }
}

/** The other releases of the group, by the watch. */
function membersOf(release: BatchRelease, wanted: string | null, { cluster, groups }: GroupPortParts): GroupView['members'] {
  const group = groupNameOf(release)
  if (wanted === null || group === undefined) return []
  const { namespace = '', uid } = release.metadata
  const namespaces = groups?.shared.includes(namespace) === true ? groups.shared : [namespace]
  const others = namespaces.flatMap((one) => releasesOfGroup(cluster, { namespace: one, group }))
  return others.flatMap((other) => (other.metadata.uid === uid ? [] : [{ release: other, isInCharge: isInChargeNow(other, cluster) }]))
}

/** Whether the DaemonSet that the release names is controlled by it. */
function isInChargeNow(release: BatchRelease, { overlay }: GroupPortParts['cluster']): boolean {
  const { metadata, spec } = release
  return isInCharge({ release }, overlay.daemonSets.get({ namespace: metadata.namespace ?? '', name: spec.workloadRef?.name ?? '' }))
}

function holderOf(lease: Lease | null, parts: GroupPortParts): GroupMember | undefined {
  const holder = groupHolderOf(lease)
  if (holder === null) return undefined
  const release = parts.cluster.overlay.batchReleases.get({ namespace: holder.namespace, name: holder.name })
  return release?.metadata.uid === holder.uid ? memberOf(release, parts) : undefined
}
