import type { KubeObject } from '@tranche/kube-types'
import { type ApiObject, type ApiOwner, type DeleteOptions, isStatus, type SimClient } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { createEventRecorder, type EventRecorder } from '../machinery/event-recorder.ts'
import { ignoreMissing } from '../machinery/ignore-missing.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'
import { createDependencyGraph, type DependencyGraph, type Located } from './dependency-graph.ts'
import { classifyOwners, FOREGROUND, isInReach, knownOwner, ORPHAN, type OwnerClasses, waitsFor } from './owner-classes.ts'
import { watchEverything } from './watch-everything.ts'

const WORKERS = 20

/** Dependencies of a pass over one object. */
interface CollectorPorts {
  readonly client: SimClient
  readonly graph: DependencyGraph
  readonly events: EventRecorder
  /** Enqueues an object. */
  readonly wake: (uid: string) => void
}

/**
 * Runs the garbage collector. Objects without any remaining owner are deleted. Owners that wait for their dependents to go
 * (`foregroundDeletion`) or to be orphaned (`orphan`) then lose their finalizer.
 */
export function startGarbageCollector({ client, clock, onError }: ControllerOptions): RunningController {
  const graph = createDependencyGraph()
  const held = new Set<string>()
  let ready = false
  const wake = (uid: string): void => (ready ? queue.add(uid) : void held.add(uid))
  const ports: CollectorPorts = { client, graph, wake, events: createEventRecorder(client, clock, 'garbage-collector-controller') }
  const queue = createWorkQueue({
    clock,
    limiter: createRateLimiter(() => clock.monotonicMs()),
    workers: WORKERS,
    work: (uid) => collect(ports, uid),
    onError,
  })

  const watching = watchEverything(client, {
    changed(id, object) {
      const before = graph.get(object.metadata.uid)?.object.metadata.ownerReferences ?? []
      graph.put(id, object)
      const owners = object.metadata.ownerReferences ?? []
      if (waitsForDependents(object) || owners.some((owner) => knownOwner(graph, owner, object) === undefined)) wake(object.metadata.uid)
      wakeWaitingOwners(owners === before ? owners : [...before, ...owners])
    },
    deleted(object) {
      const { uid, ownerReferences = [] } = object.metadata
      graph.remove(uid)
      for (const dependent of graph.dependentsOf(uid)) wake(dependent)
      wakeWaitingOwners(ownerReferences)
    },
    kindKnown: graph.learn,
  })

  /** A waiting owner is enqueued whenever one of its dependents has changed. */
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

function waitsForDependents(object: ApiObject): boolean {
  return waitsFor(object, FOREGROUND) || waitsFor(object, ORPHAN)
}

async function collect(ports: CollectorPorts, uid: string): Promise<void> {
  const { client, graph } = ports
  const located = graph.get(uid)
  if (located === undefined) return
  if (waitsFor(located.object, ORPHAN)) return orphan(client, graph, located)
  if (waitsFor(located.object, FOREGROUND)) return awaitDependents(ports, located)
  const seen = await classifyOwners(client, graph, located.object)
  if (seen.dangling.length === 0 && seen.waiting.length === 0) return
  recordForeignOwners(ports, located.object, seen)
  const latest = await refresh(client, located)
  if (latest !== undefined) await release(ports, latest, await classifyOwners(client, graph, latest.object))
}

/**
 * A watch may report outdated owners, so nothing is deleted before a fresh read. @returns undefined when the object is gone or terminating
 */
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

async function release({ client, graph }: CollectorPorts, latest: Located, { solid, dangling, waiting }: OwnerClasses): Promise<void> {
  if (dangling.length === 0 && waiting.length === 0) return
  if (solid.length > 0) return setOwners(client, latest, solid)
  const { finalizers = [], uid } = latest.object.metadata
  if (waiting.length > 0 && graph.dependentsOf(uid).length > 0) return remove(client, await unblocked(client, graph, latest), 'Foreground')
  const kept = finalizers.includes(ORPHAN) ? 'Orphan' : finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background'
  await remove(client, latest, kept)
}

/** Objects that own one another in a circle would wait for each other: one of them stops blocking its owners. */
async function unblocked(client: SimClient, graph: DependencyGraph, latest: Located): Promise<Located> {
  const isInCircle = dependentsOf(graph, latest).some(({ object }) => waitsFor(object, FOREGROUND))
  if (!isInCircle) return latest
  const { name, namespace, resourceVersion, ownerReferences = [] } = latest.object.metadata
  const notBlocking = ownerReferences.map((owner) => ({ ...owner, blockOwnerDeletion: false }))
  const patch = { metadata: { resourceVersion, ownerReferences: notBlocking } }
  return { id: latest.id, object: await client.patch(latest.id, name, namespace, patch) }
}

async function orphan(client: SimClient, graph: DependencyGraph, owner: Located): Promise<void> {
  for (const dependent of dependentsOf(graph, owner)) {
    const { ownerReferences = [] } = dependent.object.metadata
    await setOwners(
      client,
      dependent,
      ownerReferences.filter((one) => one.uid !== owner.object.metadata.uid),
    )
  }
  await removeFinalizer(client, owner, ORPHAN)
}

/** Waits for dependents that block the owner; the others are deleted after it. */
async function awaitDependents({ client, graph, wake }: CollectorPorts, owner: Located): Promise<void> {
  const { uid } = owner.object.metadata
  const dependents = dependentsOf(graph, owner)
  for (const { object } of dependents) if (object.metadata.deletionTimestamp === undefined) wake(object.metadata.uid)
  const isBlocked = dependents.some(({ object }) =>
    object.metadata.ownerReferences?.some((one) => one.uid === uid && one.blockOwnerDeletion === true),
  )
  if (!isBlocked) await removeFinalizer(client, owner, FOREGROUND)
}

function dependentsOf(graph: DependencyGraph, { object }: Located): readonly Located[] {
  return graph
    .dependentsOf(object.metadata.uid)
    .flatMap((uid) => graph.get(uid) ?? [])
    .filter((dependent) => isInReach(object, dependent.object))
}

/** Reports an owner reference across namespaces, which is a mistake of its writer. */
function recordForeignOwners({ graph, events }: CollectorPorts, object: ApiObject, { dangling }: OwnerClasses): void {
  const { namespace } = object.metadata
  for (const { apiVersion, kind, name, uid } of dangling) {
    if (graph.get(uid) === undefined) continue
    const owner = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
    const message = `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`
    events.record(object as KubeObject, 'Warning', 'OwnerRefInvalidNamespace', message)
  }
}

/** Throws a conflict, so that the object is retried. */
async function remove(client: SimClient, { id, object }: Located, propagationPolicy: DeleteOptions['propagationPolicy']): Promise<void> {
  const { name, namespace, uid, resourceVersion } = object.metadata
  const preconditions = { uid, resourceVersion }
  await ignoreMissing(client.delete(id, name, namespace, { ...(propagationPolicy && { propagationPolicy }), preconditions }))
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
