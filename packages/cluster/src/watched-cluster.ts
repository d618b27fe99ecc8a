import type { BatchRelease, ReleasePolicy, Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { FleetIndex, type FleetNode, type FleetPod, toFleetPod } from '@tranche/fleet'
import {
  createReflector,
  isForbidden,
  isNotFound,
  joinReflectors,
  type KubeClient,
  type Reflector,
  type ReflectorOptions,
  type ResourcePath,
  resourcePaths,
} from '@tranche/kube-client'
import { controllerOf, type ControllerRevision, type DaemonSet, type KubeObject, type Node, type Pod } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
import { keptNode } from './kept-node.ts'
import { createNewest, type Newest } from './newest.ts'
import { type PeerWatch, watchPeer } from './peer-watch.ts'
import { createSharedTexts } from './shared-texts.ts'

/** What a watched cluster is made of. */
export interface WatchedClusterOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** Decides the jitter of reconnects. @default 0 */
  readonly seed?: number
  /** Whose objects are watched, at least one; nodes have none, and are watched all the same. @default every namespace */
  readonly namespaces?: readonly string[]
  /** Also Rollouts and ControllerRevisions, which executors have no use for. */
  readonly withRollouts: boolean
  /**
   * For who only shows what there is: a pod counts as Ready since the API server's own stamp, in epoch milliseconds, and not since
   * our first sight of it; policies and another controller are not looked for. @default false
   */
  readonly forReports?: boolean
  /** Told of every object that this process has written, for metrics. Must not throw. */
  readonly onWritten?: (write: OwnWrite) => void
}

/** An object as the answer to a write of ours shows it. */
export interface OwnWrite {
  /** Plural of its resource. */
  readonly resource: string
  /** Resolves once our own watch shows it; rejects when the watch ends before. */
  readonly shown: Promise<void>
}

/** What this process has seen of the cluster: as much of each object as we read, and the fleet that follows from it. */
export interface WatchedCluster {
  readonly fleet: FleetIndex
  readonly nodes: Reflector<FleetNode>
  readonly pods: Reflector<FleetPod>
  readonly daemonSets: Reflector<DaemonSet>
  readonly batchReleases: Reflector<BatchRelease>
  readonly rollouts: Reflector<Rollout>
  /** ReleasePolicies; for controllers only. Not synced where the API server does not serve them, or not to us. */
  readonly policies: Reflector<ReleasePolicy>
  /** Looks out for another controller of native DaemonSets; for controllers only. */
  readonly peer: PeerWatch
  /** ControllerRevisions; `byIndex('owner', uid)` finds those of one DaemonSet. */
  readonly revisions: Reflector<ControllerRevision>
  /** What our own writes were answered with counts until the watch shows it. */
  readonly newest: {
    readonly daemonSets: Newest<DaemonSet>
    readonly batchReleases: Newest<BatchRelease>
    readonly rollouts: Newest<Rollout>
    readonly policies: Newest<ReleasePolicy>
  }
  /** Starts every reflector; resolves when the first lists have arrived. `failed` hears what ends a reflector before `signal` does. */
  start(signal: AbortSignal, failed: (error: unknown) => void): Promise<void>
}

/** Builds the reflectors and joins nodes and pods to the fleet. */
export function watchCluster(options: WatchedClusterOptions): WatchedCluster {
  const { clock } = options
  const fleet = new FleetIndex()
  const withSharedTexts = createSharedTexts()
  const nodes = createReflector<FleetNode, Node>({ ...common(options), resource: resourcePaths.nodes, transform: keptNode })
  const pods = reflect<FleetPod, Pod>(options, {
    resource: resourcePaths.pods,
    mark: DAEMON_SET,
    transform(pod, previous) {
      const kept = toFleetPod(pod, previous, options.forReports === true ? STAMPS : sight(clock))
      return kept === null ? null : withSharedTexts(kept)
    },
  })
  const daemonSets = reflect<DaemonSet, DaemonSet>(options, { resource: resourcePaths.daemonSets, transform: withoutManagedFields })
  const batchReleases = reflect<BatchRelease, BatchRelease>(options, {
    resource: resourcePaths.batchReleases,
    transform: withoutManagedFields,
  })
  const rollouts = reflect<Rollout, Rollout>(options, { resource: resourcePaths.rollouts, transform: withoutManagedFields })
  const policies = reflect<ReleasePolicy, ReleasePolicy>(options, {
    resource: resourcePaths.releasePolicies,
    transform: withoutManagedFields,
  })
  const revisions = reflect<ControllerRevision, ControllerRevision>(options, {
    resource: resourcePaths.controllerRevisions,
    mark: DAEMON_SET,
    transform: (revision) => (controllerOf(revision)?.kind === DAEMON_SET ? withoutManagedFields(revision) : null),
    indexers: { owner: (revision) => controllerOf(revision)?.uid },
  })
  const peer = watchPeer(common(options))
  nodes.subscribe({ onChange: (_key, previous, current) => fleet.nodeChanged(previous, current) })
  pods.subscribe({ onChange: (_key, previous, current) => fleet.podChanged(previous, current) })
  daemonSets.subscribe({
    onChange: (_key, previous, current) =>
      current === undefined && previous !== undefined ? fleet.forget(previous.metadata.uid) : undefined,
  })

  const started: readonly Reflector<unknown>[] = options.withRollouts
    ? [nodes, pods, daemonSets, batchReleases, rollouts, revisions, ...(options.forReports === true ? [] : peer.reflectors)]
    : [nodes, pods, daemonSets, batchReleases]
  return {
    fleet,
    nodes,
    pods,
    daemonSets,
    batchReleases,
    rollouts,
    policies,
    peer,
    revisions,
    newest: {
      daemonSets: createNewest(daemonSets, telling(options, resourcePaths.daemonSets, daemonSets)),
      batchReleases: createNewest(batchReleases, telling(options, resourcePaths.batchReleases, batchReleases)),
      rollouts: createNewest(rollouts, telling(options, resourcePaths.rollouts, rollouts)),
      policies: createNewest(policies, telling(options, resourcePaths.releasePolicies, policies)),
    },
    async start(signal, failed) {
      const mayLack = options.withRollouts && options.forReports !== true ? [policies] : []
      for (const reflector of [...started, ...mayLack]) reflector.start(signal).catch(failed)
      await Promise.all([
        ...started.map((reflector) => reflector.whenSynced(signal)),
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
function telling<T extends KubeObject>(
  { onWritten }: WatchedClusterOptions,
  { plural }: ResourcePath,
  reflector: Reflector<T>,
): ((object: T) => void) | undefined {
  if (onWritten === undefined) return undefined
  return ({ metadata: { namespace = '', resourceVersion } }) =>
    onWritten({ resource: plural, shown: reflector.whenReachedIn(namespace, resourceVersion) })
}

/** One watch, or one for each namespace. */
function reflect<T, O extends KubeObject>(
  options: WatchedClusterOptions,
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
}: WatchedClusterOptions): Pick<WatchedClusterOptions, 'client' | 'clock' | 'log'> & { seed: number } {
  return { client, clock, log, seed }
}

/** Whatever a DaemonSet owns names this kind: of the many pods of others not even the JSON is read. */
const DAEMON_SET = 'DaemonSet'

/** Every stamp of the API server lies after this moment: it is taken as it is. */
const STAMPS = { nowMs: 0, monotonicMs: 0 }

function sight(clock: Clock): { readonly nowMs: number; readonly monotonicMs: number } {
  return { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (!('managedFields' in object.metadata)) return object
  const { managedFields: _dropped, ...metadata } = object.metadata as T['metadata'] & { managedFields?: unknown }
  return { ...object, metadata }
}
