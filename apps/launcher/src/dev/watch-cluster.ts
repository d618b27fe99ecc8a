import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { FleetIndex, type FleetNode, type FleetPod, toFleetNode, toFleetPod } from '@tranche/fleet'
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
} from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
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
  const { client, clock, log } = options
  const fleet = new FleetIndex()
  const listeners = new Set<() => void>()
  const failingSince = new Map<string, number>()
  const timer = createReleaseTimer()
  let events: readonly EventSnapshot[] = []

  const whole = <T extends KubeObject>(resource: (typeof resourcePaths)[keyof typeof resourcePaths]): Reflector<T> =>
    createReflector<T, T>({ client, clock, log, resource, transform: (object) => object })
  const rollouts = whole<Rollout>(resourcePaths.rollouts)
  const batchReleases = whole<BatchRelease>(resourcePaths.batchReleases)
  const daemonSets = whole<DaemonSet>(resourcePaths.daemonSets)
  const revisions = whole<ControllerRevision>(resourcePaths.controllerRevisions)
  const nodes = createReflector<FleetNode, Node>({ client, clock, log, resource: resourcePaths.nodes, transform: toFleetNode })
  const pods = createReflector<FleetPod, Pod>({
    client,
    clock,
    log,
    resource: resourcePaths.pods,
    transform: (pod, previous) => toFleetPod(pod, previous, { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }),
  })
  const recent = createReflector<EventSnapshot, EventObject>({
    client,
    clock,
    log,
    resource: resourcePaths.events,
    transform: toEventSnapshot,
  })

  nodes.subscribe({ onChange: (_key, previous, current) => fleet.nodeChanged(previous, current) })
  pods.subscribe({ onChange: (_key, previous, current) => onPod(previous, current) })
  recent.subscribe({ onChange: (_key, _previous, current) => current && onEvent(current) })
  const all: readonly Reflector<unknown>[] = [rollouts, batchReleases, daemonSets, revisions, nodes, pods, recent]
  for (const reflector of all) reflector.subscribe({ onChange: () => listeners.forEach((listener) => listener()) })

  return {
    stopped: Promise.all(all.map((reflector) => reflector.start())).then(() => {}),
    synced: Promise.all(all.map((reflector) => reflector.whenSynced())).then(() => {}),
    snapshot,
    daemonSet: (key) => daemonSets.store.get(key),
    rollout: (key) => rollouts.store.get(key),
    nodes: () => nodes.store.size,
    subscribe(onChange) {
      listeners.add(onChange)
      return () => void listeners.delete(onChange)
    },
    stop: () => all.forEach((reflector) => reflector.stop()),
  }

  function onPod(previous: FleetPod | undefined, current: FleetPod | undefined): void {
    fleet.podChanged(previous, current)
    const node = (current ?? previous)!.node
    if (current?.trouble === undefined || current.terminating) failingSince.delete(node)
    else if (!failingSince.has(node)) failingSince.set(node, clock.nowMs())
  }

  function onEvent(event: EventSnapshot): void {
    if (!isNotable(event)) return
    events = [event, ...events].sort((a, b) => b.atMs - a.atMs).slice(0, MOST_EVENTS)
  }

  function snapshot(): ReleaseSnapshot | null {
    const daemonSet = chooseFocus(daemonSets.store.list(), rollouts.store.list(), options.preferred)
    if (daemonSet === undefined) return null
    const rollout = namingRollout(daemonSet, rollouts.store.list())
    const now = { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
    return buildSnapshot(
      {
        daemonSet,
        rollout,
        batchRelease: rollout && batchReleases.store.get(keyOf(rollout)),
        revisions: revisionsOf(daemonSet, revisions.store.list()),
        fleet: fleet.view(daemonSet),
        zoneOf: (node) => fleet.node(node)?.labels[ZONE_LABEL] ?? '',
        failingSinceMs: (node) => failingSince.get(node),
        events,
        ...timer.times(daemonSet, rollout, now.nowMs),
      },
      now,
    )
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
    atMs: Date.parse(event.lastTimestamp ?? event.eventTime ?? metadata.creationTimestamp ?? '') || 0,
    warning: event.type === 'Warning',
    reason: event.reason ?? '',
    object: `${object?.kind ?? ''}/${object?.name ?? ''}`,
    namespace: object?.namespace ?? '',
    message: event.message ?? event.note ?? '',
  }
}
