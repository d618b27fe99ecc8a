import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { keptNode } from '@tranche/cluster'
import { BY_STAMPS, FleetIndex, type FleetNode, type FleetPod } from '@tranche/fleet'
import { createReflector, type KubeClient, type Reflector, type ReflectorOptions, resourcePaths } from '@tranche/kube-client'
import {
  isOwnedBy,
  revisionsOf,
  type ControllerRevision,
  type DaemonSet,
  type KubeObject,
  type Node,
  type ObjectKey,
  type Pod,
} from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import type { ReleaseFacts } from '@tranche/reports'
import { keptPod, scopeOf } from './read-facts.ts'
import { workloadKey } from './read-action-facts.ts'
import { rolloutNotFound } from './rollout-not-found.ts'

/** Options of {@link watchRelease}. */
export interface WatchReleaseOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** Key of the Rollout. */
  readonly key: ObjectKey
  readonly until: AbortSignal
  /** Called when something may have changed. */
  readonly changed: () => void
  /** Called with the error that ends a watch before `until` does. */
  readonly failed: (error: unknown) => void
}

/** Rollout and its objects, kept up to date by watches. */
export interface WatchedRelease {
  /**
   * @returns the current state; undefined while something has not been read yet
   * @throws {AppError} ROLLOUT_NOT_FOUND
   */
  facts(): ReleaseFacts | undefined
}

/** A report has no earlier observation, so the conditions of a node count from their timestamps. */
function byStamps(node: Node, previous: FleetNode | undefined): FleetNode {
  return keptNode(node, previous, BY_STAMPS)
}

/**
 * Watches one Rollout with as few other objects as possible: its BatchRelease and DaemonSet by name, pods and revisions by the DaemonSet's
 * selector, and nodes. The watches of a DaemonSet's objects restart when the Rollout names another DaemonSet, or it was recreated.
 */
export function watchRelease(options: WatchReleaseOptions): WatchedRelease {
  const { key, clock, until } = options
  const rollouts = keepUp<Rollout>(options, { resource: resourcePaths.rollouts, scope: named(key), until })
  const releases = keepUp<BatchRelease>(options, { resource: resourcePaths.batchReleases, scope: named(key), until })
  const nodes = keepUp<FleetNode, Node>(options, { resource: resourcePaths.nodes, transform: byStamps, until })
  const workloads = createSubject<Reflector<DaemonSet>>(until)
  const belongings = createSubject<Belongings>(until)

  return {
    facts() {
      if (!rollouts.synced || !releases.synced || !nodes.synced) return undefined
      const rollout = rollouts.store.get(key)
      if (rollout === undefined) throw rolloutNotFound(key)
      const workload = workloadKey(rollout)
      const daemonSets = workloads.of(workload.name, (ends) =>
        keepUp<DaemonSet>(options, { resource: resourcePaths.daemonSets, scope: named(workload), until: ends }),
      )
      if (!daemonSets.synced) return undefined
      const daemonSet = daemonSets.store.get(workload)
      const nowMs = clock.nowMs()
      const about = { rollout, release: releases.store.get(key), daemonSet, nowMs, monotonicMs: nowMs }
      if (daemonSet === undefined) return { ...about, revisions: [], fleet: undefined }
      const { uid } = daemonSet.metadata
      const { fleet, pods, revisions } = belongings.of(uid, (ends) => watchBelongings(options, { daemonSet, nodes, until: ends }))
      if (!pods.synced || !revisions.synced) return undefined
      return { ...about, revisions: revisionsOf(daemonSet, revisions.store.list()), fleet: fleet.view(daemonSet) }
    },
  }
}

/** Objects of one DaemonSet, and the fleet that they form with the nodes. */
interface Belongings {
  readonly fleet: FleetIndex
  readonly pods: Reflector<FleetPod>
  readonly revisions: Reflector<ControllerRevision>
}

interface Owner {
  readonly daemonSet: DaemonSet
  readonly nodes: Reflector<FleetNode>
  readonly until: AbortSignal
}

function watchBelongings(options: WatchReleaseOptions, { daemonSet, nodes, until }: Owner): Belongings {
  const scope = scopeOf(daemonSet)
  const fleet = new FleetIndex()
  for (const node of nodes.store.list()) fleet.nodeChanged(undefined, node)
  const leave = nodes.subscribe({ onChange: (_key, previous, current) => fleet.nodeChanged(previous, current) })
  until.addEventListener('abort', leave, { once: true })
  const isOwned = (object: KubeObject): boolean => isOwnedBy(object, daemonSet)
  const pods = keepUp<FleetPod, Pod>(options, {
    resource: resourcePaths.pods,
    scope,
    until,
    transform: (pod, previous) => keptPod(daemonSet, pod, previous),
    heard: (previous, current) => fleet.podChanged(previous, current),
  })
  const revisions = keepUp<ControllerRevision, ControllerRevision>(options, {
    resource: resourcePaths.controllerRevisions,
    scope,
    until,
    transform: (revision) => (isOwned(revision) ? revision : null),
  })
  return { fleet, pods, revisions }
}

type KeptUp<T, O extends KubeObject> = Pick<ReflectorOptions<T, O>, 'resource'> &
  Partial<Pick<ReflectorOptions<T, O>, 'scope' | 'transform'>> & {
    readonly until: AbortSignal
    readonly heard?: (previous: T | undefined, current: T | undefined) => void
  }

/** Starts a reflector. */
function keepUp<T, O extends KubeObject = KubeObject>(options: WatchReleaseOptions, kept: KeptUp<T, O>): Reflector<T> {
  const { client, clock, log, changed, failed } = options
  const { resource, scope, until, heard, transform = (object: O) => object as unknown as T } = kept
  const reflector = createReflector<T, O>({ client, clock, log, resource, transform, ...(scope !== undefined && { scope }) })
  reflector.subscribe({
    onChange(_key, previous, current) {
      heard?.(previous, current)
      changed()
    },
  })
  reflector.start(until).catch(failed)
  // A first list may be empty; if it never comes, the error of the reflector's end is reported.
  reflector.whenSynced(until).then(changed, () => {})
  return reflector
}

function named({ namespace, name }: ObjectKey): { readonly namespace: string; readonly fieldSelector: string } {
  return { namespace, fieldSelector: `metadata.name=${name}` }
}

/** Watches of one subject at a time. */
interface Subject<T> {
  /** Returns the watches of `id`, started if needed; those of another id end. */
  of(id: string, begin: (ends: AbortSignal) => T): T
}

function createSubject<T>(until: AbortSignal): Subject<T> {
  let present: { readonly id: string; readonly value: T; readonly ending: AbortController } | undefined
  return {
    of(id, begin) {
      if (present?.id === id) return present.value
      present?.ending.abort()
      const ending = new AbortController()
      present = { id, ending, value: begin(AbortSignal.any([until, ending.signal])) }
      return present.value
    },
  }
}
