import { type ApiObject, type DiscoveredResource, type ResourceId, resources, type SimClient, type Watching } from '@tranche/sim-api'
import type { ServedKind } from './dependency-graph.ts'

/** Callbacks for all objects that can own or be owned. */
export interface Everything {
  changed(id: ResourceId, object: ApiObject): void
  deleted(object: ApiObject): void
  /** A kind is served, with or without objects. */
  kindKnown(apiVersion: string, kind: string, served: ServedKind): void
}

/** Watches every served resource except events; custom resources are added and removed dynamically. */
export function watchEverything(client: SimClient, everything: Everything): { readonly synced: Promise<unknown>; stop(): void } {
  const watches = new Map<string, Watching>()
  const first: Promise<void>[] = []

  function follow({ id, kind, namespaced }: DiscoveredResource): void {
    const key = `${id.group}/${id.resource}`
    if (watches.has(key) || key === '/events') return
    everything.kindKnown(`${id.group}/`, kind, { id, namespaced })
    const { watching, synced } = watchOne(client, id, everything)
    watches.set(key, watching)
    first.push(synced)
  }

  function rediscover(): void {
    const served = client.discover()
    for (const one of served) follow(one)
    for (const [key, watching] of watches) {
      if (served.some(({ id }) => `${id.group}/${id.resource}` === key)) continue
      watching.stop()
      watches.delete(key)
    }
  }

  rediscover()
  const definitions = client.watch(resources.customResourceDefinitions, {}, (event) => {
    if (event.type !== 'SYNCED') rediscover()
  })
  return {
    synced: Promise.all(first),
    stop() {
      for (const watching of watches.values()) watching.stop()
      definitions.stop()
    },
  }
}

function watchOne(
  client: SimClient,
  id: ResourceId,
  everything: Everything,
): { readonly watching: Watching; readonly synced: Promise<void> } {
  let resolveSynced = (): void => {}
  const synced = new Promise<void>((resolve) => (resolveSynced = resolve))
  const watching = client.watch(id, {}, (event) => {
    if (event.type === 'SYNCED') resolveSynced()
    else if (event.type === 'DELETED') everything.deleted(event.object)
    else everything.changed(id, event.object)
  })
  return { watching, synced }
}
