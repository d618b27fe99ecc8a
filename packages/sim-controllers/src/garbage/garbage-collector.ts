import { type ApiObject, type ApiOwner, type DeleteOptions, isStatus, type SimClient } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../daemonset/daemon-set-controller.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'
import { createDependencyGraph, type DependencyGraph, type Located, type ServedKind } from './dependency-graph.ts'
import { watchEverything } from './watch-everything.ts'

const WORKERS = 20
const FOREGROUND = 'foregroundDeletion'
const ORPHAN = 'orphan'

/**
 * Runs the garbage collector: objects whose owners are all gone go too, and owners that wait for their dependents
 * (`foregroundDeletion`) or for letting go of them (`orphan`) are let go in their turn.
 */
export function startGarbageCollector({ client, clock, onError }: ControllerOptions): RunningController {
  const graph = createDependencyGraph()
  const queue = createWorkQueue({
    clock,
    limiter: createRateLimiter(() => clock.monotonicMs()),
    workers: WORKERS,
    work: (uid) => collect(client, graph, uid),
    onError,
  })
  const held = new Set<string>()
  let ready = false
  const wake = (uid: string): void => (ready ? queue.add(uid) : void held.add(uid))

  const watching = watchEverything(client, {
    changed(id, object) {
      graph.put(id, object)
      const owners = object.metadata.ownerReferences ?? []
      if (waitsForDependents(object) || owners.some((owner) => graph.get(owner.uid) === undefined)) wake(object.metadata.uid)
      wakeWaitingOwners(owners)
    },
    deleted(object) {
      const { uid, ownerReferences = [] } = object.metadata
      graph.remove(uid)
      for (const dependent of graph.dependentsOf(uid)) wake(dependent)
      wakeWaitingOwners(ownerReferences)
    },
    kindKnown: graph.learn,
  })

  /** An owner that waits looks again whenever one of its dependents has changed. */
  function wakeWaitingOwners(owners: readonly ApiOwner[]): void {
    for (const { uid } of owners) {
      const owner = graph.get(uid)
      if (owner !== undefined && waitsForDependents(owner.object)) wake(uid)
    }
  }

  void watching.synced.then(() => {
    ready = true
    for (const uid of held) queue.add(uid)
  })
  return {
    stop() {
      queue.stop()
      watching.stop()
    },
  }
}

async function collect(client: SimClient, graph: DependencyGraph, uid: string): Promise<void> {
  const located = graph.get(uid)
  if (located === undefined) return
  if (waitsForDependents(located.object)) return letGo(client, graph, located)
  if (!(await hasDeadOwner(client, graph, located.object))) return
  const latest = await refresh(client, located)
  if (latest === undefined) return
  const owners = latest.object.metadata.ownerReferences ?? []
  const living = await livingOwners(client, graph, latest.object, owners)
  if (living.length === owners.length) return
  if (living.length > 0) return setOwners(client, latest, living)
  const { resourceVersion } = latest.object.metadata
  await remove(client, latest, { uid, resourceVersion })
}

async function hasDeadOwner(client: SimClient, graph: DependencyGraph, object: ApiObject): Promise<boolean> {
  const owners = object.metadata.ownerReferences ?? []
  return (await livingOwners(client, graph, object, owners)).length < owners.length
}

/** What a watch says of an object's owners may be old: nothing is deleted for it. @returns undefined when the object is gone or going */
async function refresh(client: SimClient, { id, object }: Located): Promise<Located | undefined> {
  const { name, namespace, uid } = object.metadata
  try {
    const latest = await client.get(id, name, namespace)
    if (latest.metadata.uid !== uid || latest.metadata.deletionTimestamp !== undefined) return undefined
    return { id, object: latest }
  } catch (error) {
    if (isStatus(error, 404)) return undefined
    throw error
  }
}

async function letGo(client: SimClient, graph: DependencyGraph, owner: Located): Promise<void> {
  const { uid, finalizers = [] } = owner.object.metadata
  const dependents = graph.dependentsOf(uid).flatMap((dependent) => graph.get(dependent) ?? [])
  if (finalizers.includes(ORPHAN)) {
    for (const dependent of dependents) {
      const others = (dependent.object.metadata.ownerReferences ?? []).filter((one) => one.uid !== uid)
      await setOwners(client, dependent, others)
    }
    return removeFinalizer(client, owner, ORPHAN)
  }
  for (const dependent of dependents)
    if (dependent.object.metadata.deletionTimestamp === undefined) await remove(client, dependent, { uid: dependent.object.metadata.uid })
  const blocking = dependents.some(({ object }) =>
    object.metadata.ownerReferences?.some((one) => one.uid === uid && one.blockOwnerDeletion === true),
  )
  if (!blocking) await removeFinalizer(client, owner, FOREGROUND)
}

function waitsForDependents({ metadata }: ApiObject): boolean {
  if (metadata.deletionTimestamp === undefined) return false
  return metadata.finalizers?.some((finalizer) => finalizer === FOREGROUND || finalizer === ORPHAN) === true
}

/** An owner that no watch has shown is asked for: the watches lag, each by itself. An owner of an unknown kind counts as living. */
async function livingOwners(
  client: SimClient,
  graph: DependencyGraph,
  object: ApiObject,
  owners: readonly ApiOwner[],
): Promise<readonly ApiOwner[]> {
  const living: ApiOwner[] = []
  for (const owner of owners) {
    const served = graph.resourceOf(owner.apiVersion, owner.kind)
    if (graph.get(owner.uid) !== undefined || served === undefined || (await exists(client, served, owner, object.metadata.namespace)))
      living.push(owner)
  }
  return living
}

async function exists(client: SimClient, { id, namespaced }: ServedKind, owner: ApiOwner, namespace: string | undefined): Promise<boolean> {
  try {
    const found = await client.get(id, owner.name, namespaced ? namespace : undefined)
    return found.metadata.uid === owner.uid
  } catch (error) {
    if (isStatus(error, 404)) return false
    throw error
  }
}

/** A conflict is thrown, so that the object is looked at again. */
async function remove(
  client: SimClient,
  { id, object }: Located,
  preconditions: NonNullable<DeleteOptions['preconditions']>,
): Promise<void> {
  const { name, namespace } = object.metadata
  await ignoreMissing(client.delete(id, name, namespace, { propagationPolicy: 'Background', preconditions }))
}

async function setOwners(client: SimClient, { id, object }: Located, ownerReferences: readonly ApiOwner[]): Promise<void> {
  const { name, namespace, resourceVersion } = object.metadata
  await ignoreMissing(client.patch(id, name, namespace, { metadata: { resourceVersion, ownerReferences } }))
}

async function removeFinalizer(client: SimClient, { id, object }: Located, finalizer: string): Promise<void> {
  const { name, namespace, resourceVersion, finalizers = [] } = object.metadata
  const left = finalizers.filter((one) => one !== finalizer)
  await ignoreMissing(client.patch(id, name, namespace, { metadata: { resourceVersion, finalizers: left } }))
}

async function ignoreMissing(write: Promise<unknown>): Promise<void> {
  await write.catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error
  })
}
