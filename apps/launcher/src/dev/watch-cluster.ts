import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { FleetIndex, type FleetNode, type FleetPod, type ObservationTime, toFleetNode, toFleetPod } from '@tranche/fleet'
import { createReflector, type KubeClient, type Reflector, resourcePaths } from '@tranche/kube-client'
import {
  type ControllerRevision,
  type DaemonSet,
  type KubeObject,
  keyOf,
  type Node,
  type ObjectKey,
  type Pod,
  revisionsOf,
  parseTime,
} from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { buildSnapshot } from '../screen/build-snapshot.ts'
import type { EventSnapshot, ReleaseSnapshot } from '../screen/release-snapshot.ts'
import { chooseFocus, namingRollout } from './focus.ts'
import { createReleaseTimer } from './release-timer.ts'

/** Client and settings of the watches. */
export interface ClusterWatchOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** DaemonSet to show while no other is in mid-release. */
  readonly preferred: ObjectKey
}

/** Local copy of the cluster, from list and watch. */
export interface ClusterWatch {
  /** Resolves after the first list of every resource. */
  readonly synced: Promise<void>
  /** Resolves once all watches have ended; rejects on a bug in one of them. */
  readonly stopped: Promise<void>
  /** @returns the snapshot to show; null while there is no DaemonSet */
  snapshot(): ReleaseSnapshot | null
  daemonSet(key: ObjectKey): DaemonSet | undefined
  rollout(key: ObjectKey): Rollout | undefined
  /** Number of nodes of the cluster. */
  nodes(): number
  /** Calls `onChange` after every change. @returns function that unsubscribes */
  subscribe(onChange: () => void): () => void
  stop(): void
}

/** Maximum number of events kept; older ones are dropped. */
const MOST_EVENTS = 50
const ZONE_LABEL = 'topology.kubernetes.io/zone'

/** Starts watching Rollouts, BatchReleases, DaemonSets, their revisions, nodes, pods and events. */
export function watchDemoCluster(options: ClusterWatchOptions): ClusterWatch {
  return new DemoClusterWatch(options)
}

class DemoClusterWatch implements ClusterWatch {
  readonly synced: Promise<void>
  readonly stopped: Promise<void>
  readonly #options: ClusterWatchOptions
  readonly #reflectors: Reflectors
  readonly #fleet = new FleetIndex()
  readonly #listeners = new Set<() => void>()
  /** Time since which the pod of a node fails, by node. */
  readonly #failingSince = new Map<string, number>()
  readonly #timer = createReleaseTimer()
  /** Newest first. */
  #events: readonly EventSnapshot[] = []

  constructor(options: ClusterWatchOptions) {
    this.#options = options
    this.#reflectors = createReflectors(options)
    const { nodes, pods, events } = this.#reflectors
    nodes.subscribe({ onChange: (_key, previous, current) => this.#fleet.nodeChanged(previous, current) })
    pods.subscribe({ onChange: (_key, previous, current) => this.#onPod(previous, current) })
    events.subscribe({ onChange: (_key, _previous, current) => current && this.#onEvent(current) })
    for (const reflector of this.#all()) reflector.subscribe({ onChange: () => this.#listeners.forEach((listener) => listener()) })
    this.stopped = Promise.all(this.#all().map((reflector) => reflector.start())).then(() => {})
    this.synced = Promise.all(this.#all().map((reflector) => reflector.whenSynced())).then(() => {})
  }

  snapshot(): ReleaseSnapshot | null {
    const { daemonSets, rollouts, batchReleases, revisions } = this.#reflectors
    const { clock, preferred } = this.#options
    const daemonSet = chooseFocus(daemonSets.store.list(), rollouts.store.list(), preferred)
    if (daemonSet === undefined) return null
    const rollout = namingRollout(daemonSet, rollouts.store.list())
    const now = { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
    return buildSnapshot(
      {
        daemonSet,
        rollout,
        batchRelease: rollout && batchReleases.store.get(keyOf(rollout)),
        revisions: revisionsOf(daemonSet, revisions.store.list()),
        fleet: this.#fleet.view(daemonSet),
        zoneOf: (node) => this.#fleet.node(node)?.labels[ZONE_LABEL] ?? '',
        failingSinceMs: (node) => this.#failingSince.get(node),
        events: this.#events,
        ...this.#timer.times(daemonSet, rollout, now.nowMs),
      },
      now,
    )
  }

  daemonSet(key: ObjectKey): DaemonSet | undefined {
    return this.#reflectors.daemonSets.store.get(key)
  }

  rollout(key: ObjectKey): Rollout | undefined {
    return this.#reflectors.rollouts.store.get(key)
  }

  nodes(): number {
    return this.#reflectors.nodes.store.size
  }

  subscribe(onChange: () => void): () => void {
    this.#listeners.add(onChange)
    return () => void this.#listeners.delete(onChange)
  }

  stop(): void {
    this.#all().forEach((reflector) => reflector.stop())
  }

  #all(): readonly Reflector<unknown>[] {
    return Object.values(this.#reflectors)
  }

  #onPod(previous: FleetPod | undefined, current: FleetPod | undefined): void {
    this.#fleet.podChanged(previous, current)
    const node = (current ?? previous)!.node
    if (current?.trouble === undefined || current.terminating) this.#failingSince.delete(node)
    else if (!this.#failingSince.has(node)) this.#failingSince.set(node, this.#options.clock.nowMs())
  }

  #onEvent(event: EventSnapshot): void {
    if (!isNotable(event)) return
    this.#events = [event, ...this.#events].sort((a, b) => b.atMs - a.atMs).slice(0, MOST_EVENTS)
  }
}

/** In the order in which they start. */
interface Reflectors {
  readonly rollouts: Reflector<Rollout>
  readonly batchReleases: Reflector<BatchRelease>
  readonly daemonSets: Reflector<DaemonSet>
  readonly revisions: Reflector<ControllerRevision>
  readonly nodes: Reflector<FleetNode>
  readonly pods: Reflector<FleetPod>
  readonly events: Reflector<EventSnapshot>
}

function createReflectors({ client, clock, log }: ClusterWatchOptions): Reflectors {
  const common = { client, clock, log }
  const seenAt = (): ObservationTime => ({ nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() })
  const whole = <T extends KubeObject>(resource: (typeof resourcePaths)[keyof typeof resourcePaths]): Reflector<T> =>
    createReflector<T, T>({ ...common, resource, transform: (object) => object })
  return {
    rollouts: whole<Rollout>(resourcePaths.rollouts),
    batchReleases: whole<BatchRelease>(resourcePaths.batchReleases),
    daemonSets: whole<DaemonSet>(resourcePaths.daemonSets),
    revisions: whole<ControllerRevision>(resourcePaths.controllerRevisions),
    nodes: createReflector<FleetNode, Node>({
      ...common,
      resource: resourcePaths.nodes,
      transform: (node, previous) => toFleetNode(node, previous, seenAt()),
    }),
    pods: createReflector<FleetPod, Pod>({
      ...common,
      resource: resourcePaths.pods,
      transform: (pod, previous) => toFleetPod(pod, previous, seenAt()),
    }),
    events: createReflector<EventSnapshot, EventObject>({ ...common, resource: resourcePaths.events, transform: toEventSnapshot }),
  }
}

/** @see core/v1 Event, the parts that are shown */
interface EventObject extends KubeObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly note?: string
  readonly involvedObject?: { readonly kind?: string; readonly namespace?: string; readonly name?: string }
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
}

/** Keeps warnings and events about the release: the map already shows the pods. */
function isNotable({ warning, object, reason }: EventSnapshot): boolean {
  return (
    warning || /^(Rollout|BatchRelease)\//.test(object) || (object.startsWith('DaemonSet/') && !/^Successful(Create|Delete)$/.test(reason))
  )
}

function toEventSnapshot(event: EventObject): EventSnapshot {
  const { involvedObject: object, metadata } = event
  return {
    atMs: parseTime(event.lastTimestamp ?? event.eventTime ?? metadata.creationTimestamp) ?? 0,
    warning: event.type === 'Warning',
    reason: event.reason ?? '',
    object: `${object?.kind ?? ''}/${object?.name ?? ''}`,
    namespace: object?.namespace ?? '',
    message: event.message ?? event.note ?? '',
  }
}
