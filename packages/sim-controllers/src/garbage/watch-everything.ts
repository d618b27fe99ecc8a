import type { KubeObject } from '@tranche/kube-types'
import { type ApiObject, type ResourceId, resources, type SimClient, type Watching } from '@tranche/sim-api'
import type { ServedKind } from './dependency-graph.ts'

interface Everything {
  changed(id: ResourceId, object: ApiObject): void
  deleted(object: ApiObject): void
  /** A kind is served, whether or not it has objects. */
  kindKnown(apiVersion: string, kind: string, served: ServedKind): void
}

/** Resources that own or are owned, beside what CustomResourceDefinitions bring. */
const builtIn: readonly ResourceId[] = [
  resources.nodes,
  resources.pods,
  resources.daemonSets,
  resources.controllerRevisions,
  resources.configMaps,
  resources.secrets,
  resources.serviceAccounts,
  resources.leases,
]

/** Watches all that can own or be owned, custom resources included as they come. */
export function watchEverything(client: SimClient, everything: Everything): { readonly synced: Promise<unknown>; stop(): void } {
  const custom = new Map<string, Watching>()
  const watches = builtIn.map((id) => watchOne(client, id, everything))
  const definitions = client.watch(resources.customResourceDefinitions, {}, (event) => {
    if (event.type === 'SYNCED') return
    const definition = event.object as unknown as CustomResourceDefinition
    const { name } = definition.metadata
    if (event.type === 'DELETED') {
      custom.get(name)?.stop()
      custom.delete(name)
    } else if (!custom.has(name) && isEstablished(definition)) {
      const id = { group: definition.spec.group, resource: definition.spec.names.plural }
      const namespaced = definition.spec.scope === 'Namespaced'
      everything.kindKnown(`${definition.spec.group}/`, definition.spec.names.kind, { id, namespaced })
      custom.set(name, watchOne(client, id, everything).watching)
    }
  })
  return {
    synced: Promise.all(watches.map((watch) => watch.synced)),
    stop() {
      for (const { watching } of watches) watching.stop()
      for (const watching of custom.values()) watching.stop()
      definitions.stop()
    },
  }
}

interface CustomResourceDefinition extends KubeObject {
  readonly spec: { readonly group: string; readonly scope: string; readonly names: { readonly plural: string; readonly kind: string } }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True') === true
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
