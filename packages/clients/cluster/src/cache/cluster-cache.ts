import type { BatchRelease, ReleasePolicy, Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { liveConfigIn } from '@tranche/config'
import { BY_STAMPS, FleetIndex, type FleetNode, type FleetPod, type ObservationTime, toFleetPod } from '@tranche/fleet'
import {
  createReflector,
  joinReflectors,
  type KubeClient,
  type Reflector,
  type ReflectorOptions,
  resourcePaths,
} from '@tranche/kube-client'
import {
  controllerKeyOf,
  controllerOf,
  type ControllerRevision,
  type DaemonSet,
  isSameJson,
  type KubeObject,
  type Node,
  type Pod,
} from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { cordonKeys } from './cordoned-nodes.ts'
import { keptNode } from './kept-node.ts'
import { type KruiseWatch, watchKruise } from './kruise-watch.ts'
import { bindingKeys, workloadKeys } from './named-workload.ts'
import { groupKeys } from './releases-of-group.ts'
import { createSharedTexts } from './shared-texts.ts'

/** Settings of the cluster cache. */
export interface ClusterCacheOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** Seed for the jitter of reconnects. @default 0 */
  readonly seed?: number
  /** Namespaces whose objects are watched, at least one; nodes are always watched. @default every namespace */
  readonly namespaces?: readonly string[]
  /**
   * Start of a pod's Ready time: this process's first observation (F6), or the API server's timestamp, in epoch milliseconds. @default
   * observed
   */
  readonly readySince?: 'observed' | 'stamp'
}

/** Kept part of each object, and the fleet derived from it. Nothing is watched before a reflector is started. */
export interface ClusterCache {
  readonly fleet: FleetIndex
  readonly nodes: Reflector<FleetNode>
  readonly pods: Reflector<FleetPod>
  readonly daemonSets: Reflector<DaemonSet>
  readonly batchReleases: Reflector<BatchRelease>
  readonly rollouts: Reflector<Rollout>
  readonly policies: Reflector<ReleasePolicy>
  readonly revisions: Reflector<ControllerRevision>
  readonly kruise: KruiseWatch
}

/** Cluster cache shared by several programs of one process; each waits for the resources that it reads itself. */
export interface SharedClusterCache extends ClusterCache {
  /** Starts every reflector, until `signal` aborts; `failed` receives the error that ends one earlier. */
  start(signal: AbortSignal, failed: (error: unknown) => void): void
}

/** Creates a cluster cache with the resources of every program. */
export function createSharedClusterCache(options: ClusterCacheOptions): SharedClusterCache {
  const clusterCache = createClusterCache(options)
  const { nodes, pods, daemonSets, batchReleases, rollouts, policies, revisions, kruise } = clusterCache
  return {
    ...clusterCache,
    start(signal, failed) {
      for (const reflector of [nodes, pods, daemonSets, batchReleases, rollouts, revisions, ...kruise.reflectors, policies])
        reflector.start(signal).catch(failed)
    },
  }
}

/** Creates the reflectors and joins nodes and pods to the fleet. */
export function createClusterCache(options: ClusterCacheOptions): ClusterCache {
  const { clock } = options
  const fleet = new FleetIndex()
  const withSharedTexts = createSharedTexts()
  const seenAt = (): ObservationTime => (options.readySince === 'stamp' ? BY_STAMPS : observationTime(clock))
  const nodes = createReflector<FleetNode, Node>({
    ...common(options),
    resource: resourcePaths.nodes,
    transform: (node, previous) => keptNode(node, previous, seenAt()),
    indexers: { cordon: cordonKeys },
  })
  const pods = reflectorFor<FleetPod, Pod>(options, {
    resource: resourcePaths.pods,
    mark: DAEMON_SET,
    transform(pod, previous) {
      const kept = toFleetPod(pod, previous, seenAt())
      const liveConfig = liveConfigIn(pod)
      return kept === null ? null : withSharedTexts(liveConfig === undefined ? kept : { ...kept, liveConfig })
    },
  })
  const daemonSets = reflectorFor<DaemonSet, DaemonSet>(options, {
    resource: resourcePaths.daemonSets,
    transform: withoutManagedFields,
    indexers: { rollout: bindingKeys },
  })
  const batchReleases = reflectorFor<BatchRelease, BatchRelease>(options, {
    resource: resourcePaths.batchReleases,
    ...defined,
    indexers: { group: groupKeys, workload: workloadKeys },
  })
  const rollouts = reflectorFor<Rollout, Rollout>(options, {
    resource: resourcePaths.rollouts,
    ...defined,
    indexers: { workload: workloadKeys },
  })
  const policies = reflectorFor<ReleasePolicy, ReleasePolicy>(options, {
    resource: resourcePaths.releasePolicies,
    transform: withoutManagedFields,
  })
  const revisions = reflectorFor<ControllerRevision, ControllerRevision>(options, {
    resource: resourcePaths.controllerRevisions,
    mark: DAEMON_SET,
    transform: (revision) => (controllerOf(revision)?.kind === DAEMON_SET ? withoutManagedFields(revision) : null),
    indexers: { owner: controllerKeyOf },
  })
  const kruise = watchKruise(common(options))
  nodes.subscribe({ onChange: (_key, previous, current) => fleet.nodeChanged(previous, current) })
  pods.subscribe({ onChange: (_key, previous, current) => fleet.podChanged(previous, current) })
  daemonSets.subscribe({
    onChange: (_key, previous, current) => (current === undefined && previous !== undefined ? fleet.forget(previous) : undefined),
  })
  return { fleet, nodes, pods, daemonSets, batchReleases, rollouts, policies, revisions, kruise }
}

/** One watch, or one per namespace. */
function reflectorFor<T, O extends KubeObject>(
  options: ClusterCacheOptions,
  kept: Pick<ReflectorOptions<T, O>, 'resource' | 'mark' | 'transform' | 'indexers'>,
): Reflector<T> {
  const { namespaces, log } = options
  if (namespaces === undefined) return createReflector<T, O>({ ...common(options), ...kept })
  const reflectors = namespaces.map((namespace) => {
    const scope = { namespace }
    return [namespace, createReflector<T, O>({ ...common(options), ...kept, scope, log: log.child({ namespace }) })] as const
  })
  return joinReflectors(new Map(reflectors))
}

function common({
  client,
  clock,
  log,
  seed = 0,
}: ClusterCacheOptions): Pick<ClusterCacheOptions, 'client' | 'clock' | 'log'> & { readonly seed: number } {
  return { client, clock, log, seed }
}

/** Kind that every object owned by a DaemonSet names: the JSON of other pods is not even parsed. */
const DAEMON_SET = 'DaemonSet'

function observationTime(clock: Clock): ObservationTime {
  return { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
}

/**
 * Options for kinds whose definition others can change: the same version may be shown with fewer fields, and later in full again. OpenKruise's
 * definitions do not require a `spec`, so an object without one may be stored; it asks for nothing.
 */
const defined = {
  transform<T extends KubeObject & { readonly spec?: unknown }>(object: T, previous: T | undefined): T {
    if (typeof object.spec !== 'object' || object.spec === null) throw new Error('it has no spec; add one, or delete it')
    const kept = withoutManagedFields(object)
    const isSame = previous?.metadata.resourceVersion === kept.metadata.resourceVersion && isSameJson(previous, kept)
    return isSame ? previous : kept
  },
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (!('managedFields' in object.metadata)) return object
  const { managedFields: _dropped, ...metadata } = object.metadata as T['metadata'] & { managedFields?: unknown }
  return { ...object, metadata }
}
