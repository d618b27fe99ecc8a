import type { BatchRelease, ReleasePolicy, Rollout } from '@tranche/api-schema'
import { isForbidden, isNotFound, type Reflector, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import { type ControllerRevision, type DaemonSet, type KubeObject, ownerKeyOf, revisionsOf } from '@tranche/kube-types'
import { type ClusterCacheOptions, type ClusterCache, createClusterCache, type SharedClusterCache } from './cluster-cache.ts'
import { createOverlayStore, type OverlayStore } from './overlay-store.ts'
import { type Fleet, stampedFleet } from './stamped-fleet.ts'

/** What a watched cluster is made of. */
export interface WatchedClusterOptions extends Omit<ClusterCacheOptions, 'readySince'> {
  /** Also Rollouts and ControllerRevisions, which executors have no use for. */
  readonly withRollouts: boolean
  /**
   * For who only shows what there is: a pod of the fleet counts as Ready since the API server's own stamp, in epoch milliseconds, and
   * not since our first sight of it; policies and another controller are not looked for. @default false
   */
  readonly forReports?: boolean
  /** What other programs of this process read too; whoever has made it starts it. @default one of its own */
  readonly clusterCache?: SharedClusterCache
  /** Told of every object that this program has written, for metrics. Must not throw. */
  readonly onWritten?: (write: OwnWrite) => void
}

/** An object as the answer to a write of ours shows it. */
export interface OwnWrite {
  /** Plural of its resource. */
  readonly resource: string
  /** Resolves once our own watch shows it; rejects when the watch ends before. */
  readonly shown: Promise<void>
}

/**
 * What one program has seen of the cluster. `policies` and `peer` are for controllers only; policies are not synced where the API server
 * does not serve them, or not to us. {@link ownedRevisions} finds those of one DaemonSet.
 */
export interface WatchedCluster extends Omit<ClusterCache, 'fleet'> {
  readonly fleet: Fleet
  /** What this program's own writes were answered with counts until the watch shows it. */
  readonly overlay: {
    readonly daemonSets: OverlayStore<DaemonSet>
    readonly batchReleases: OverlayStore<BatchRelease>
    readonly rollouts: OverlayStore<Rollout>
    readonly policies: OverlayStore<ReleasePolicy>
  }
  /**
   * Starts every reflector, where nobody else does; resolves when the first lists have arrived of what this program reads. `failed` hears
   * what ends a reflector before `signal` does.
   */
  start(signal: AbortSignal, failed: (error: unknown) => void): Promise<void>
}

/** The revisions of a DaemonSet as this program has seen them (F15). */
export function ownedRevisions({ revisions }: Pick<ClusterCache, 'revisions'>, daemonSet: DaemonSet): readonly ControllerRevision[] {
  return revisionsOf(daemonSet, revisions.store.byIndex('owner', ownerKeyOf(daemonSet)))
}

/** Builds the reflection, or reads the one that there is, and adds what this program has written. */
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

/** Clusters with older definitions, or older roles, have no policies for us: what names none must not wait for them. */
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

/** @returns what hears of our own writes to a resource; undefined where nobody wants to */
function writeListener<T extends KubeObject>(
  { onWritten }: WatchedClusterOptions,
  { plural }: ResourcePath,
  reflector: Reflector<T>,
): ((object: T) => void) | undefined {
  if (onWritten === undefined) return undefined
  return ({ metadata: { namespace = '', resourceVersion } }) =>
    onWritten({ resource: plural, shown: reflector.whenReachedIn(namespace, resourceVersion) })
}
