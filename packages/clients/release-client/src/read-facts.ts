import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { BY_STAMPS, FleetIndex, type FleetNode, type FleetPod, type FleetView, toFleetNode, toFleetPod } from '@tranche/fleet'
import { type KubeClient, type ResourcePath, resourcePaths, type Scope } from '@tranche/kube-client'
import {
  controllerKeyOf,
  type ControllerRevision,
  type DaemonSet,
  isOwnedBy,
  isReleaseOf,
  type KubeObject,
  keyOf,
  keyText,
  type Node,
  type ObjectKey,
  ownerKeyOf,
  type Pod,
  revisionsOf,
} from '@tranche/kube-types'
import type { ReleaseFacts } from '@tranche/reports'
import pLimit from 'p-limit'
import { getOrNone, readRevisions, workloadKey } from './read-action-facts.ts'
import type { AskOptions, ListRolloutsOptions, RolloutNames } from './release-client.ts'
import { rolloutNotFound } from './rollout-not-found.ts'
import { selectorText } from './selector-text.ts'

/** Dependencies of a fresh read. */
export interface FactReader {
  readonly client: KubeClient
  readonly clock: Clock
}

/** Maximum number of DaemonSets whose pods are read in parallel. */
const READS_AT_ONCE = 8

/**
 * Reads all facts of one Rollout, each object in its current state.
 *
 * @throws {AppError} ROLLOUT_NOT_FOUND
 */
export async function readFacts(reader: FactReader, key: ObjectKey, options: AskOptions = {}): Promise<ReleaseFacts> {
  const { client, clock } = reader
  const rollout = await getOrNone<Rollout>(client, resourcePaths.rollouts, key, callOptions(options))
  if (rollout === undefined) throw rolloutNotFound(key)
  const [daemonSet, found] = await Promise.all([
    getOrNone<DaemonSet>(client, resourcePaths.daemonSets, workloadKey(rollout), callOptions(options)),
    getOrNone<BatchRelease>(client, resourcePaths.batchReleases, key, callOptions(options)),
  ])
  const release = ownRelease(rollout, found)
  const nowMs = clock.nowMs()
  if (daemonSet === undefined) return { rollout, release, daemonSet, revisions: [], fleet: undefined, nowMs, monotonicMs: nowMs }
  const [revisions, nodes, pods] = await Promise.all([
    readRevisions(client, daemonSet, callOptions(options)),
    listNodes(reader, options),
    listPods(reader, daemonSet, options),
  ])
  return { rollout, release, daemonSet, revisions, fleet: viewOf(indexOf(nodes), daemonSet, pods), nowMs, monotonicMs: nowMs }
}

/** Reads the facts of every Rollout of a namespace, or of all; optionally only of those with certain labels. */
export async function readAllFacts(
  reader: FactReader,
  { namespace, labelSelector, ...options }: ListRolloutsOptions,
): Promise<readonly ReleaseFacts[]> {
  const list = <T>(resource: ResourcePath): Promise<readonly T[]> => listAll(reader, resource, { namespace, ...options })
  const rollouts = await listRollouts(reader, { namespace, labelSelector, ...options })
  if (rollouts.length === 0) return []
  const [daemonSets, releases, revisions, nodes] = await Promise.all([
    list<DaemonSet>(resourcePaths.daemonSets),
    list<BatchRelease>(resourcePaths.batchReleases),
    list<ControllerRevision>(resourcePaths.controllerRevisions),
    listNodes(reader, options),
  ])
  const find = <T extends KubeObject>(all: readonly T[]): ((wanted: ObjectKey) => T | undefined) => {
    const byKey = new Map(all.map((object) => [keyText(keyOf(object)), object]))
    return (wanted) => byKey.get(keyText(wanted))
  }
  const [daemonSetOf, releaseOf] = [find(daemonSets), find(releases)]
  const owned = Map.groupBy(revisions, controllerKeyOf)
  const named = new Set(rollouts.flatMap((rollout) => daemonSetOf(workloadKey(rollout)) ?? []))
  const fleets = await readFleets(reader, { daemonSets: [...named], nodes }, options)
  return rollouts.map((rollout) => {
    const daemonSet = daemonSetOf(workloadKey(rollout))
    const { fleet, readMs } = (daemonSet && fleets.get(daemonSet)) ?? { fleet: undefined, readMs: reader.clock.nowMs() }
    return {
      rollout,
      release: ownRelease(rollout, releaseOf(keyOf(rollout))),
      daemonSet,
      revisions: daemonSet === undefined ? [] : revisionsOf(daemonSet, owned.get(ownerKeyOf(daemonSet)) ?? []),
      fleet,
      nowMs: readMs,
      monotonicMs: readMs,
    }
  })
}

/** Reads the names of the same Rollouts with one list. */
export async function readNames(reader: FactReader, options: ListRolloutsOptions): Promise<readonly RolloutNames[]> {
  return (await listRollouts(reader, options)).map((rollout) => ({ ...keyOf(rollout), daemonSet: rollout.spec.workloadRef.name }))
}

/** OpenKruise's definitions require no spec: such an object asks for nothing, and `doctor` names it. */
async function listRollouts(reader: FactReader, options: ListRolloutsOptions): Promise<readonly Rollout[]> {
  const listed = await listAll<Rollout>(reader, resourcePaths.rollouts, options)
  return listed.filter((rollout: Partial<Rollout>) => rollout.spec !== undefined)
}

interface FleetOwners {
  readonly daemonSets: readonly DaemonSet[]
  readonly nodes: readonly FleetNode[]
}

interface ReadFleet {
  readonly fleet: FleetView
  /** Epoch milliseconds at which its pods had been read: by a later clock they would become available without being seen. */
  readonly readMs: number
}

/** Lists the pods of each DaemonSet once, however many Rollouts name it: they share its fleet. */
async function readFleets(
  reader: FactReader,
  { daemonSets, nodes }: FleetOwners,
  options: AskOptions,
): Promise<ReadonlyMap<DaemonSet, ReadFleet>> {
  const index = indexOf(nodes)
  const read = await eachAtMost(daemonSets, READS_AT_ONCE, async (daemonSet): Promise<readonly [DaemonSet, ReadFleet]> => {
    const fleet = viewOf(index, daemonSet, await listPods(reader, daemonSet, options))
    return [daemonSet, { fleet, readMs: reader.clock.nowMs() }]
  })
  return new Map(read)
}

/** F15: a BatchRelease of the same name with another owner says nothing about the Rollout. */
function ownRelease(rollout: Rollout, release: BatchRelease | undefined): BatchRelease | undefined {
  return release !== undefined && isReleaseOf(release, rollout) ? release : undefined
}

function indexOf(nodes: readonly FleetNode[]): FleetIndex {
  const index = new FleetIndex()
  for (const node of nodes) index.nodeChanged(undefined, node)
  return index
}

function viewOf(index: FleetIndex, daemonSet: DaemonSet, pods: readonly FleetPod[]): FleetView {
  for (const pod of pods) index.podChanged(undefined, pod)
  return index.view(daemonSet)
}

async function listNodes({ client }: FactReader, options: AskOptions): Promise<readonly FleetNode[]> {
  const transform = (object: KubeObject): FleetNode => toFleetNode(object as Node, undefined, BY_STAMPS)
  return (await client.list<FleetNode>(resourcePaths.nodes, { ...callOptions(options), transform })).items
}

async function listPods({ client }: FactReader, daemonSet: DaemonSet, options: AskOptions): Promise<readonly FleetPod[]> {
  const transform = (object: KubeObject): FleetPod | null => keptPod(daemonSet, object as Pod)
  return (await client.list<FleetPod>(resourcePaths.pods, { ...callOptions(options), ...scopeOf(daemonSet), transform })).items
}

/**
 * Keeps part of a pod of this DaemonSet; null for any other pod. A Ready pod counts from the API server's timestamp, because a report has
 * no earlier observation.
 */
export function keptPod(daemonSet: DaemonSet, object: Pod, previous?: FleetPod): FleetPod | null {
  return isOwnedBy(object, daemonSet) ? toFleetPod(object, previous, BY_STAMPS) : null
}

/** Scope in which pods and revisions of a DaemonSet are searched. */
export function scopeOf({ metadata, spec }: DaemonSet): Scope {
  const labelSelector = selectorText(spec.selector)
  return {
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    ...(labelSelector !== '' && { labelSelector }),
  }
}

async function listAll<T>(
  { client }: FactReader,
  resource: ResourcePath,
  { namespace, labelSelector, ...options }: ListRolloutsOptions,
): Promise<readonly T[]> {
  const scope = { ...(namespace !== undefined && { namespace }), ...(labelSelector !== undefined && { labelSelector }) }
  return (await client.list<T>(resource, { ...callOptions(options), ...scope })).items
}

/** @returns the results in the order of the items; at most `most` run at a time, and none starts after one has failed */
async function eachAtMost<T, R>(items: readonly T[], most: number, work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const limit = pLimit(most)
  try {
    return await limit.map(items, work)
  } finally {
    limit.clearQueue()
  }
}

/** Limits in the form that the client takes. */
export function callOptions({ signal, deadlineMs }: AskOptions): { readonly signal?: AbortSignal; readonly deadlineMs?: number } {
  return { ...(signal !== undefined && { signal }), ...(deadlineMs !== undefined && { deadlineMs }) }
}
