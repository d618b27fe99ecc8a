import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { BY_STAMPS, type FleetNode, type FleetPod, toFleetNode, toFleetPod } from '@tranche/fleet'
import { isForbidden, type KubeClient, type ListOptions, type ResourcePath, resourcePaths } from '@tranche/kube-client'
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
import { getOrNone, readRevisions, selectorText, workloadKey } from '@tranche/release-client'
import type { ReleaseFacts } from '@tranche/reports'
import { createLackList, type Lack, type LackList, resourceText } from './lack.ts'
import { type FleetOf, partialFleet } from './partial-fleet.ts'

/** Dependencies of the reads. */
export interface ReleaseReader {
  readonly client: KubeClient
  readonly clock: Clock
}

/** Facts about a Rollout as far as the user may read them. */
export interface ReadRelease {
  readonly facts: ReleaseFacts
  readonly lacks: readonly Lack[]
  /** Whether the nodes of the facts are those of the cluster: without the pods there are only counts. */
  readonly hasNodes: boolean
}

/** Facts about all Rollouts of some namespaces. */
export interface ReadFleet {
  readonly facts: readonly ReleaseFacts[]
  readonly lacks: readonly Lack[]
}

/**
 * Reads one Rollout and what decides about its release. Leaves out parts that the user may not read, and names them.
 *
 * @throws {AppError} ACCESS_DENIED if the Rollout itself may not be read; ROLLOUT_NOT_FOUND
 */
export async function readRelease(reader: ReleaseReader, key: ObjectKey, signal?: AbortSignal): Promise<ReadRelease> {
  const { client } = reader
  const call = { signal }
  const lacks = createLackList()
  const rollout = await readRollout(client, key, signal)
  const workload = workloadKey(rollout)
  const [daemonSet, release] = await Promise.all([
    lacks.tolerate(
      lackOf('get', resourcePaths.daemonSets, workload),
      getOrNone<DaemonSet>(client, resourcePaths.daemonSets, workload, call),
      undefined,
    ),
    lacks.tolerate(
      lackOf('get', resourcePaths.batchReleases, key),
      getOrNone<BatchRelease>(client, resourcePaths.batchReleases, key, call),
      undefined,
    ),
  ])
  const [revisions, nodes, pods] = await Promise.all([
    lacks.tolerate(
      { verb: 'list', resource: resourceText(resourcePaths.controllerRevisions), namespace: key.namespace },
      readRevisions(client, daemonSet, call),
      [],
    ),
    readNodes(reader, lacks, signal),
    daemonSet === undefined ? [] : readPods(reader, daemonSet, lacks, signal),
  ])
  const facts = factsOf(reader, { rollout, release, daemonSet, revisions, fleetOf: daemonSet && partialFleet(daemonSet, { nodes, pods }) })
  return { facts, lacks: lacks.all(), hasNodes: pods !== undefined }
}

/** @throws {AppError} ACCESS_DENIED, ROLLOUT_NOT_FOUND */
async function readRollout(client: KubeClient, key: ObjectKey, signal: AbortSignal | undefined): Promise<Rollout> {
  const rollout = await getOrNone<Rollout>(client, resourcePaths.rollouts, key, { signal }).catch((error: unknown) => {
    if (!isForbidden(error)) throw error
    throw new AppError('ACCESS_DENIED', `You may not get rollouts.rollouts.kruise.io in namespace ${JSON.stringify(key.namespace)}.`, {
      hint: 'Ask for the role tranche-cli-viewer there.',
      cause: error,
    })
  })
  if (rollout !== undefined) return rollout
  throw new AppError('ROLLOUT_NOT_FOUND', `there is no Rollout ${JSON.stringify(key.name)} in namespace ${JSON.stringify(key.namespace)}`)
}

/** Versions of the objects that change with every step of a release: as long as they stay the same, little has happened. */
export async function readVersions({ client }: ReleaseReader, key: ObjectKey, signal?: AbortSignal): Promise<string> {
  const rollout = await readRollout(client, key, signal)
  const lacks = createLackList()
  const others = await Promise.all(
    (
      [
        [resourcePaths.daemonSets, workloadKey(rollout)],
        [resourcePaths.batchReleases, key],
      ] as const
    ).map(([resource, of]) =>
      lacks.tolerate(lackOf('get', resource, of), getOrNone<KubeObject>(client, resource, of, { signal }), undefined),
    ),
  )
  return [rollout, ...others].map((object) => object?.metadata.resourceVersion ?? '').join(' ')
}

/** Maximum number of DaemonSets whose pods are read at a time. */
const READS_AT_ONCE = 4

/**
 * Reads all Rollouts of these namespaces, or of all if none is given.
 *
 * @throws {AppError} ACCESS_DENIED if no list of Rollouts may be read
 */
export async function readFleet(reader: ReleaseReader, namespaces: readonly string[] | null, signal?: AbortSignal): Promise<ReadFleet> {
  const lacks = createLackList()
  const scopes = namespaces ?? [undefined]
  const nodes = readNodes(reader, lacks, signal)
  // A failure is reported where the nodes are used.
  nodes.catch(() => {})
  const parts = await Promise.all(scopes.map((namespace) => readScope(reader, { namespace, nodes, lacks }, signal)))
  const refused = lacks.all().filter(({ verb, resource }) => verb === 'list' && resource === resourceText(resourcePaths.rollouts))
  if (refused.length === scopes.length) throw noFleet(refused)
  return { facts: parts.flat(), lacks: lacks.all() }
}

function noFleet(refused: readonly Lack[]): AppError {
  const where = refused.map(({ namespace }) => (namespace === undefined ? 'in all namespaces' : JSON.stringify(namespace))).join(', ')
  return new AppError('ACCESS_DENIED', `You may not list rollouts.rollouts.kruise.io ${where}.`, {
    hint: 'Name the namespaces whose Rollouts you may list.',
  })
}

interface Scope {
  readonly namespace: string | undefined
  readonly nodes: Promise<readonly FleetNode[] | undefined>
  readonly lacks: LackList
}

async function readScope(
  reader: ReleaseReader,
  { namespace, nodes, lacks }: Scope,
  signal?: AbortSignal,
): Promise<readonly ReleaseFacts[]> {
  const list = async <T>(resource: ResourcePath): Promise<readonly T[]> => {
    const options: ListOptions<T> = { signal, ...(namespace !== undefined && { namespace }) }
    const items = reader.client.list<T>(resource, options).then((all) => all.items)
    return lacks.tolerate({ verb: 'list', resource: resourceText(resource), namespace }, items, [])
  }
  const rollouts = await list<Rollout>(resourcePaths.rollouts)
  if (rollouts.length === 0) return []
  const [daemonSets, releases, revisions] = await Promise.all([
    list<DaemonSet>(resourcePaths.daemonSets),
    list<BatchRelease>(resourcePaths.batchReleases),
    list<ControllerRevision>(resourcePaths.controllerRevisions),
  ])
  const daemonSetOf = finder(daemonSets)
  const releaseOf = finder(releases)
  const owned = Map.groupBy(revisions, controllerKeyOf)
  const named = new Set(rollouts.flatMap((rollout) => daemonSetOf(workloadKey(rollout)) ?? []))
  const nodesRead = await nodes
  // Once per DaemonSet, however many Rollouts name it: they share its fleet.
  const fleets = new Map(
    await inTurns([...named], async (daemonSet): Promise<readonly [DaemonSet, FleetOf]> => {
      const pods = await readPods(reader, daemonSet, lacks, signal)
      return [daemonSet, partialFleet(daemonSet, { nodes: nodesRead, pods })]
    }),
  )
  return rollouts.map((rollout) => {
    const daemonSet = daemonSetOf(workloadKey(rollout))
    return factsOf(reader, {
      rollout,
      release: releaseOf(keyOf(rollout)),
      daemonSet,
      revisions: daemonSet === undefined ? [] : revisionsOf(daemonSet, owned.get(ownerKeyOf(daemonSet)) ?? []),
      fleetOf: daemonSet && fleets.get(daemonSet),
    })
  })
}

function finder<T extends KubeObject>(all: readonly T[]): (key: ObjectKey) => T | undefined {
  const byKey = new Map(all.map((object) => [keyText(keyOf(object)), object]))
  return (key) => byKey.get(keyText(key))
}

/** Maps with a few at a time, in order. */
async function inTurns<T, U>(all: readonly T[], map: (one: T) => Promise<U>): Promise<readonly U[]> {
  const done: U[] = []
  for (let at = 0; at < all.length; at += READS_AT_ONCE) done.push(...(await Promise.all(all.slice(at, at + READS_AT_ONCE).map(map))))
  return done
}

interface ReadObjects extends Pick<ReleaseFacts, 'rollout' | 'release' | 'daemonSet' | 'revisions'> {
  /** Undefined without a DaemonSet. */
  readonly fleetOf: FleetOf | undefined
}

function factsOf({ clock }: ReleaseReader, { fleetOf, release, ...read }: ReadObjects): ReleaseFacts {
  const { rollout } = read
  const nowMs = clock.nowMs()
  const { canaryRevision: update = '', stableRevision: stable = '' } = rollout.status?.canaryStatus ?? {}
  return {
    ...read,
    // F15: a BatchRelease of the same name with another owner says nothing about the Rollout.
    release: release !== undefined && isReleaseOf(release, rollout) ? release : undefined,
    fleet: fleetOf?.({ update, stable }),
    nowMs,
    monotonicMs: nowMs,
  }
}

function readNodes({ client }: ReleaseReader, lacks: LackList, signal?: AbortSignal): Promise<readonly FleetNode[] | undefined> {
  const transform = (object: KubeObject): FleetNode => toFleetNode(object as Node, undefined, BY_STAMPS)
  const read = client.list<FleetNode>(resourcePaths.nodes, { signal, transform }).then(({ items }) => items)
  return lacks.tolerate<readonly FleetNode[] | undefined>({ verb: 'list', resource: 'nodes' }, read, undefined)
}

function readPods(
  { client }: ReleaseReader,
  daemonSet: DaemonSet,
  lacks: LackList,
  signal?: AbortSignal,
): Promise<readonly FleetPod[] | undefined> {
  const namespace = daemonSet.metadata.namespace ?? ''
  const labelSelector = selectorText(daemonSet.spec.selector)
  const transform = (object: KubeObject): FleetPod | null =>
    isOwnedBy(object, daemonSet) ? toFleetPod(object as Pod, undefined, BY_STAMPS) : null
  const scope = { signal, namespace, ...(labelSelector !== '' && { labelSelector }) }
  const read = client.list<FleetPod>(resourcePaths.pods, { ...scope, transform }).then(({ items }) => items)
  return lacks.tolerate<readonly FleetPod[] | undefined>({ verb: 'list', resource: 'pods', namespace }, read, undefined)
}

function lackOf(verb: Lack['verb'], resource: ResourcePath, { namespace, name }: ObjectKey): Lack {
  return { verb, resource: resourceText(resource), namespace, name }
}
