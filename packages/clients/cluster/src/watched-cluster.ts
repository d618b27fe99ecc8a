import type { BatchRelease, ReleasePolicy, Rollout } from '@tranche/api-schema'
import { isForbidden, isNotFound, type Reflector, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import { type ControllerRevision, type DaemonSet, type KubeObject, ownerKeyOf, revisionsOf } from '@tranche/kube-types'
import { type ClusterCacheOptions, type ClusterCache, createClusterCache, type SharedClusterCache } from './cache/cluster-cache.ts'
import { createOverlayStore, type OverlayStore } from './overlay-store.ts'
import { type Fleet, stampedFleet } from './stamped-fleet.ts'

/** Settings of a watched cluster. */
export interface WatchedClusterOptions extends Omit<ClusterCacheOptions, 'readySince'> {
  /** Also watches Rollouts and ControllerRevisions, which executors do not need. */
  readonly withRollouts: boolean
  /**
   * For reports: pods count as Ready since the API server's timestamp, in epoch milliseconds, and not since this process's first
   * observation. Policies and OpenKruise's controller are not watched. @default false
   */
  readonly forReports?: boolean
  /** Cluster cache shared with other programs of this process, started by its creator. @default its own */
  readonly clusterCache?: SharedClusterCache
  /** Called for every object that this program has written, for metrics. Must not throw. */
  readonly onWritten?: (write: OwnWrite) => void
}

/** Object as the response to this process's own write shows it. */
export interface OwnWrite {
  /** Plural of its resource. */
  readonly resource: string
  /** Resolves once this process's own watch shows it; rejects when the watch ends before. */
  readonly shown: Promise<void>
}

/**
 * Cluster as seen by one program. `policies` and `kruise` are for controllers only; policies are not synced if the API server does not serve
 * them, or denies access. {@link ownedRevisions} returns those of one DaemonSet.
 */
export interface WatchedCluster extends Omit<ClusterCache, 'fleet'> {
  readonly fleet: Fleet
  /** Responses to this program's own writes, which count until the watch shows them. */
  readonly overlay: {
    readonly daemonSets: OverlayStore<DaemonSet>
    readonly batchReleases: OverlayStore<BatchRelease>
    readonly rollouts: OverlayStore<Rollout>
    readonly policies: OverlayStore<ReleasePolicy>
  }
  /**
   * Starts every reflector, unless a shared cache does. Resolves when the first lists of the resources that this program reads have
   * arrived. `failed` receives the error that ends a reflector before `signal` does.
   */
  start(signal: AbortSignal, failed: (error: unknown) => void): Promise<void>
}

/** Revisions of a DaemonSet as this program has seen them (F15). */
export function ownedRevisions({ revisions }: Pick<ClusterCache, 'revisions'>, daemonSet: DaemonSet): readonly ControllerRevision[] {
  return revisionsOf(daemonSet, revisions.store.byIndex('owner', ownerKeyOf(daemonSet)))
}

/** Creates a cluster cache, or uses the shared one, and adds this program's own writes. */
export function watchCluster(options: WatchedClusterOptions): WatchedCluster {
  const { forReports = false } = options
  const clusterCache = options.clusterCache ?? createClusterCache({ ...options, readySince: forReports ? 'stamp' : 'observed' })
  const { nodes, pods, daemonSets, batchReleases, rollouts, policies, kruise, revisions } = clusterCache
  const needed: readonly Reflector<unknown>[] = options.withRollouts
    ? [nodes, pods, daemonSets, batchReleases, rollouts, revisions, ...(forReports ? [] : kruise.reflectors)]
    : [nodes, pods, daemonSets, batchReleases]
  const mayLack = options.withRollouts && !forReports ? [policies] : []
  return {
    ...clusterCache,
    fleet: forReports && options.clusterCache !== undefined ? stampedFleet(clusterCache.fleet) : clusterCache.fleet,
    overlay: {
      daemonSets: createOverlayStore(daemonSets, writeListener(options, resourcePaths.daemonSets, daemonSets)),
      batchReleases: createOverlayStore(batchReleases, writeListener(options, resourcePaths.batchReleases, batchReleases)),
      rollouts: createOverlayStore(rollouts, writeListener(options, resourcePaths.rollouts, rollouts)),
      policies: createOverlayStore(policies, writeListener(options, resourcePaths.releasePolicies, policies)),
    },
    async start(signal, failed) {
      if (options.clusterCache === undefined) for (const reflector of [...needed, ...mayLack]) reflector.start(signal).catch(failed)
      await Promise.all([
        ...needed.map((reflector) => reflector.whenSynced(signal)),
        ...mayLack.map((reflector) => whenSyncedIfServed(options, reflector, signal)),
      ])
    },
  }
}

/** Does not wait for policies on clusters with older definitions or roles, which have none to read. */
async function whenSyncedIfServed(
  { client, namespaces }: WatchedClusterOptions,
  policies: Reflector<ReleasePolicy>,
  signal: AbortSignal,
): Promise<void> {
  const scopes = namespaces?.map((namespace) => ({ namespace })) ?? [{}]
  try {
    await Promise.all(scopes.map((scope) => client.list(resourcePaths.releasePolicies, { ...scope, signal, transform: () => null })))
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return
  }
  await policies.whenSynced(signal)
}

/** @returns the listener for this program's own writes to a resource; undefined if not needed */
function writeListener<T extends KubeObject>(
  { onWritten }: WatchedClusterOptions,
  { plural }: ResourcePath,
  reflector: Reflector<T>,
): ((object: T) => void) | undefined {
  if (onWritten === undefined) return undefined
  return ({ metadata: { namespace = '', resourceVersion } }) =>
    onWritten({ resource: plural, shown: reflector.whenReachedIn(namespace, resourceVersion) })
}
