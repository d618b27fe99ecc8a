import type { Clock, Timer } from '@tranche/clock'
import type { Actor, ApiObject, ResourceId, Scope, SimClient, Watching, WatchEvent } from './model/client.ts'
import { objectOrEmpty } from './model/json.ts'
import { ApiStatusError } from './model/status-error.ts'
import {
  type ApiList,
  type ApiRequest,
  type ApiResult,
  ConnectionCutError,
  type WatchFrame,
  type WatchRequest,
  type WatchSink,
} from './model/request.ts'
import { idOf, type ResourceDefinition } from './model/resource-definition.ts'

/** Dependencies of a client on the server. */
export interface ClientPort {
  readonly clock: Clock
  definitions(): readonly ResourceDefinition[]
  handle(request: ApiRequest): Promise<ApiResult>
  watch(request: WatchRequest, sink: WatchSink): Promise<Watching>
}

/** @returns a client that sends every request as `actor` */
export function createSimClient(server: ClientPort, actor: Actor): SimClient {
  async function object(request: Omit<ApiRequest, 'actor'>): Promise<ApiObject> {
    const result = await server.handle({ ...request, actor })
    if (result.kind !== 'object') throw new Error(`${request.verb} of ${request.resource.resource} returned no object`)
    return result.object
  }
  return {
    discover: () => server.definitions().map((one) => ({ id: idOf(one), kind: one.kind, namespaced: one.namespaced })),
    get: (resource, name, namespace) => object({ verb: 'get', resource, name, namespace }),
    create: (resource, body) => object({ verb: 'create', resource, body, namespace: namespaceOf(body) }),
    update: (resource, body, subresource) =>
      object({ verb: 'update', resource, name: body.metadata.name, namespace: body.metadata.namespace, body, subresource }),
    patch: (resource, name, namespace, body, subresource) =>
      object({
        verb: 'patch',
        resource,
        name,
        namespace,
        body,
        subresource,
        patchType: Array.isArray(body) ? 'json-patch' : 'merge-patch',
      }),
    strategicPatch: (resource, name, namespace, body, subresource) =>
      object({ verb: 'patch', resource, name, namespace, body, subresource, patchType: 'strategic-merge-patch' }),
    async list(resource, scope = {}) {
      const list = await readList(server, actor, resource, scope)
      return { items: list.items, resourceVersion: list.metadata.resourceVersion }
    },
    async delete(resource, name, namespace, options) {
      await server.handle({ actor, verb: 'delete', resource, name, namespace, body: options })
    },
    async bind(name, namespace, nodeName) {
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target: { kind: 'Node', name: nodeName } }
      await server.handle({
        actor,
        verb: 'create',
        resource: { group: '', resource: 'pods' },
        subresource: 'binding',
        name,
        namespace,
        body,
      })
    },
    watch: (resource, scope, onEvent) => new ListWatch(server, actor, resource, scope, onEvent),
  }
}

const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 5_000

/** Lists and watches. Resumes from its position when the watch ends, or lists again when that position has expired. */
class ListWatch implements Watching {
  readonly #server: ClientPort
  readonly #actor: Actor
  readonly #resource: ResourceId
  readonly #scope: Scope
  readonly #onEvent: (event: WatchEvent) => void
  /** Objects delivered so far, by uid. */
  readonly #known = new Map<string, ApiObject>()
  /** Resource version to watch from; undefined: list first. */
  #from: string | undefined
  #synced = false
  #stopped = false
  #failures = 0
  #watching: Watching | undefined
  #retry: Timer | undefined

  constructor(server: ClientPort, actor: Actor, resource: ResourceId, scope: Scope, onEvent: (event: WatchEvent) => void) {
    this.#server = server
    this.#actor = actor
    this.#resource = resource
    this.#scope = scope
    this.#onEvent = onEvent
    void this.#run()
  }

  stop(): void {
    this.#stopped = true
    this.#watching?.stop()
    this.#retry?.cancel()
  }

  async #run(): Promise<void> {
    try {
      if (this.#from === undefined) this.#takeList(await readList(this.#server, this.#actor, this.#resource, this.#scope))
      if (this.#stopped) return
      await this.#open()
      this.#failures = 0
    } catch (error) {
      if (!(error instanceof ApiStatusError || error instanceof ConnectionCutError)) throw error
      this.#runLater()
    }
  }

  async #open(): Promise<void> {
    const { namespace, labelSelector, fieldSelector } = this.#scope
    const options = { resourceVersion: this.#from, labelSelector, fieldSelector, timeoutSeconds: Number.POSITIVE_INFINITY }
    const request: WatchRequest = { actor: this.#actor, resource: this.#resource, namespace, options }
    const watching = await this.#server.watch(request, { frame: (frame) => this.#take(frame), end: () => this.#runLater() })
    if (this.#stopped) watching.stop()
    else this.#watching = watching
  }

  #runLater(): void {
    if (this.#stopped) return
    const delayMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures++)
    this.#retry = this.#server.clock.setTimer(delayMs, () => void this.#run())
  }

  #take(frame: WatchFrame): void {
    if (frame.type === 'ERROR') {
      this.#from = undefined
    } else {
      this.#from = frame.object.metadata.resourceVersion
      if (frame.type !== 'BOOKMARK') this.#emit(frame.type, frame.object)
    }
  }

  #emit(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ApiObject): void {
    if (this.#stopped) return
    if (type === 'DELETED') this.#known.delete(object.metadata.uid)
    else this.#known.set(object.metadata.uid, object)
    this.#onEvent({ type, object })
  }

  /** Delivers the changes between two lists as events. */
  #takeList(list: ApiList): void {
    const listed = new Set(list.items.map(({ metadata }) => metadata.uid))
    for (const [uid, object] of this.#known) if (!listed.has(uid)) this.#emit('DELETED', object)
    for (const object of list.items) {
      const known = this.#known.get(object.metadata.uid)
      if (known === undefined) this.#emit('ADDED', object)
      else if (known.metadata.resourceVersion !== object.metadata.resourceVersion) this.#emit('MODIFIED', object)
    }
    this.#from = list.metadata.resourceVersion
    if (this.#synced || this.#stopped) return
    this.#synced = true
    this.#onEvent({ type: 'SYNCED' })
  }
}

async function readList(server: ClientPort, actor: Actor, resource: ResourceId, scope: Scope): Promise<ApiList> {
  const { namespace, labelSelector, fieldSelector } = scope
  const result = await server.handle({ actor, verb: 'list', resource, namespace, options: { labelSelector, fieldSelector } })
  if (result.kind !== 'list') throw new Error(`list of ${resource.resource} returned no list`)
  return result.list
}

function namespaceOf(body: unknown): string | undefined {
  const namespace = objectOrEmpty(objectOrEmpty(body)['metadata'])['namespace']
  return typeof namespace === 'string' ? namespace : undefined
}
