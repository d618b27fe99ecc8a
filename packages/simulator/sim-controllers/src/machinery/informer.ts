import { compareResourceVersions, type KubeObject } from '@tranche/kube-types'
import type { ResourceId, SimClient } from '@tranche/sim-api'

/** Cache of one resource, at the position of its watch. */
export interface Informer<T extends KubeObject> {
  /** @param namespace empty or missing for cluster-scoped objects */
  get(name: string, namespace?: string): T | undefined
  values(): Iterable<T>
  /** Newest resource version that the watch has reported. */
  readonly resourceVersion: string
  /** Resolves when everything that existed at the start has been delivered. */
  readonly synced: Promise<void>
  stop(): void
}

/** Called after the cache has changed. */
export interface InformerEvents<T> {
  readonly added?: (object: T) => void
  readonly updated?: (object: T, before: T) => void
  readonly deleted?: (object: T) => void
}

/** Watches all objects of a resource, in all namespaces. */
export function createInformer<T extends KubeObject>(client: SimClient, id: ResourceId, events: InformerEvents<T>): Informer<T> {
  const objects = new Map<string, T>()
  let resourceVersion = ''
  let resolveSynced = (): void => {}
  const synced = new Promise<void>((resolve) => (resolveSynced = resolve))

  const watching = client.watch(id, {}, (event) => {
    if (event.type === 'SYNCED') return resolveSynced()
    // Typed view of the API's objects, without copying.
    const object = event.object as unknown as T
    const key = objectKey(object.metadata.name, object.metadata.namespace)
    if (compareResourceVersions(object.metadata.resourceVersion, resourceVersion) > 0) resourceVersion = object.metadata.resourceVersion
    const before = objects.get(key)
    if (event.type === 'DELETED') {
      objects.delete(key)
      events.deleted?.(object)
      return
    }
    objects.set(key, object)
    if (before === undefined) events.added?.(object)
    else events.updated?.(object, before)
  })

  return {
    get: (name, namespace) => objects.get(objectKey(name, namespace)),
    values: () => objects.values(),
    get resourceVersion() {
      return resourceVersion
    },
    synced,
    stop: () => watching.stop(),
  }
}

function objectKey(name: string, namespace = ''): string {
  return `${namespace}/${name}`
}
