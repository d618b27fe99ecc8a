import type { Clock } from '@tranche/clock'
import type { Actor, ApiObject, ResourceId, SimClient, Watching } from './model/client.ts'
import { schemaSource } from './schema/schema-source.ts'
import { importJson, type JsonObject } from './model/json.ts'
import { createRandom } from './model/random.ts'
import { Store } from './store/store.ts'
import type { AccessControl } from './auth/access.ts'
import { createAuthorizer } from './auth/authorizer.ts'
import { createFirstRoles, followAccess } from './auth/follow-access.ts'
import { createServiceAccountTokens, type ReadObject } from './auth/service-account-tokens.ts'
import { createConditions } from './admission/match-conditions.ts'
import { createPolicies } from './admission/policies/policies.ts'
import { createWebhookClient, type WebhookOptions } from './admission/webhook-client.ts'
import { createWebhooks } from './admission/webhooks.ts'
import { storeKey } from './store/bucket.ts'
import type { Admission } from './admission/admission.ts'
import { builtInResources } from './resources/built-in-resources.ts'
import { changeObject, storedObject } from './requests/change-object.ts'
import { createObject } from './requests/create-object.ts'
import { createFirstObjects } from './requests/first-objects.ts'
import { followCustomResources } from './resources/custom-resources.ts'
import { deleteCollection, deleteObject } from './requests/delete-object.ts'
import type { Engine } from './engine/engine.ts'
import { timestamp } from './model/timestamp.ts'
import { badRequest, methodNotAllowed, noSuchResource } from './model/errors.ts'
import { evictPod } from './pods/evict-pod.ts'
import { createFaultGate } from './faults/fault-gate.ts'
import type { FaultInjector } from './faults/faults.ts'
import { listObjects } from './requests/list.ts'
import { createNameRandom } from './model/names.ts'
import { bindPod } from './pods/bind-pod.ts'
import { Registry, type Served } from './resources/registry.ts'
import type { ApiList, ApiRequest, ApiResult, Verb, WatchRequest, WatchSink } from './model/request.ts'
import { idOf, type ResourceDefinition, type SchemaSource } from './model/resource-definition.ts'
import { scaleObject } from './requests/scale-object.ts'
import { createSimClient } from './sim-client.ts'
import { type DelayRange, WatchHub } from './watch/watch-hub.ts'

/** Options of a server. */
export interface ApiServerOptions {
  readonly clock: Clock
  /** Whole number; the same seed gives the same uids, names and delays. */
  readonly seed: number
  /** Delay of events to each watcher. @default 0 to 20 ms */
  readonly watchDelayMs?: DelayRange
  /** Minimum number of changes kept per resource; older resource versions get 410. @default 10,000 */
  readonly historySize?: number
  /** Revision before the first write. @default 1000 */
  readonly firstRevision?: number
  /** How webhooks are reached. @default over HTTPS; services are unreachable */
  readonly webhooks?: WebhookOptions
  /** Source of schemas. @default schemas of the built-in kinds and of custom resources */
  readonly schemas?: SchemaSource
}

/** Accepted write, as observers see it. */
export interface AcceptedWrite {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly resource: ResourceId
  readonly kind: string
  readonly object: ApiObject
  /** Undefined for ADDED. */
  readonly previous: ApiObject | undefined
  /** Sender of the request; `system:apiserver` for the server's own writes. */
  readonly actor: Actor
  readonly verb: Verb
  /** Absent for the server's own writes. */
  readonly request?: ApiRequest
}

/** Delivery to an actor by a list, an event or a bookmark: everything of the resource up to a revision. */
export interface Delivery {
  readonly actor: Actor
  readonly resource: ResourceId
  readonly revision: number
}

/** Time in milliseconds that watches outlive the definition under which they were opened (1,034 to 1,111 on Kubernetes 1.36.2). */
const REPLACED_WATCH_MS = 1_035

/** Attributes under which faults select a request for discovery or OpenAPI, which has no resource. */
const DOCUMENTS: ResourceId = { group: '', resource: 'documents' }

/** Kubernetes API server without a network. Everything settles by microtasks and timers of its clock. */
export interface ApiServer {
  readonly clock: Clock
  /**
   * Handles a request.
   *
   * @throws {ApiStatusError} when a server would respond with a Status; {@link ConnectionCutError} when a fault drops the response
   */
  handle(request: ApiRequest): Promise<ApiResult>
  /** Opens a watch; frames follow by timer. Throws as {@link ApiServer.handle}. */
  watch(request: WatchRequest, sink: WatchSink): Promise<Watching>
  /** Handles a request for a document about the server itself by `act`, with the faults of requests. Throws as {@link ApiServer.handle}. */
  readDocument<T>(actor: Actor, act: () => T): Promise<T>
  /** @returns a client that sends every request as `actor` */
  clientFor(actor: Actor): SimClient
  /** @returns currently served resources, built-in resources first */
  definitions(): readonly ResourceDefinition[]
  /** @returns resource; undefined when it is not served */
  findDefinition(id: ResourceId): ResourceDefinition | undefined
  /** Authorization by the current objects. It does not apply to in-process requests: the owner of the server may do everything. */
  readonly access: AccessControl
  /** Revision of the last write. */
  revision(): number
  /** Calls `observer` after each accepted write, in order, before any watcher receives it. @returns function that stops it */
  observe(observer: (write: AcceptedWrite) => void): () => void
  /** Calls `observer` with every delivery, just before the receiver gets it. @returns function that stops it */
  observeDeliveries(observer: (delivery: Delivery) => void): () => void
  /** Sets the admission hook, in place of an earlier one. */
  useAdmission(admission: Admission | undefined): void
  /** Sets the fault injector, in place of an earlier one. */
  useFaults(faults: FaultInjector | undefined): void
  /**
   * Imports objects of built-in or custom resources from another cluster, with their uids, generations and resource versions, without
   * validation. Must precede all watches.
   *
   * @returns stored objects: with this server's defaults, without unknown fields
   * @throws Error for a kind that is not served
   */
  load(objects: readonly ApiObject[]): readonly ApiObject[]
  /** Drops the history: every older resource version gets 410 from now on. */
  compact(): void
}

/** Creates a server with the initial namespaces of every cluster. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { clock, seed, schemas = schemaSource, watchDelayMs = DEFAULT_DELAY, historySize = 10_000, firstRevision = 1000 } = options
  const observers = new Set<(write: AcceptedWrite) => void>()
  const deliveryObservers = new Set<(delivery: Delivery) => void>()
  const deliver = (delivery: Delivery): void => {
    for (const observer of deliveryObservers) observer(delivery)
  }
  const registry = new Registry()
  let faults: FaultInjector | undefined

  const store = new Store({
    firstRevision,
    historySize,
    onChange(change) {
      const kind = registry.find(change.id)?.definition.kind ?? ''
      const { type, id: resource, object, previous } = change
      const by = engine.writer ?? SYSTEM_WRITER
      for (const observer of observers) observer({ type, resource, kind, object, previous, ...by })
      hub.dispatch(change)
      const { writer } = engine
      engine.writer = undefined
      authorizer.follow(change)
      webhooks.follow(change)
      policies.follow(change)
      follow(change)
      followAccessObjects(change)
      engine.writer = writer
    },
  })
  const webhooks = createWebhooks({
    store,
    call: createWebhookClient(options.webhooks),
    names: createRandom(seed, 'webhooks'),
    meets: createConditions(),
  })
  const policies = createPolicies({ store, findKind: (apiVersion, kind) => registry.findKind(apiVersion, kind) })
  const engine: Engine = {
    clock,
    store,
    registry,
    names: createNameRandom(seed),
    admission: undefined,
    webhooks,
    policies,
    writer: undefined,
  }
  const hub = new WatchHub({ clock, store, seed, delayMs: watchDelayMs, faults: () => faults, deliver })
  const follow = followCustomResources({
    store,
    registry,
    schemas,
    nowMs: () => clock.nowMs(),
    onReplaced: ({ group, plural }) => hub.closeAll({ group, resource: plural }, REPLACED_WATCH_MS),
  })
  const authorizer = createAuthorizer(store)
  const readObject: ReadObject = (id, name, namespace) => store.bucket(id).get(storeKey(namespace, name))
  const access: AccessControl = { ...authorizer, tokens: createServiceAccountTokens(() => clock.nowMs(), readObject), readObject }
  const accessObjects = { store, names: createRandom(seed, 'access'), now: () => timestamp(clock.nowMs()) }
  const followAccessObjects = followAccess(accessObjects)
  for (const definition of builtInResources(schemas))
    registry.add(definition, (version) => schemas.builtIn(definition.group, version, definition.kind))
  createFirstObjects(engine)
  createFirstRoles(accessObjects)

  const gate = createFaultGate(clock, () => faults)
  const server: ApiServer = {
    clock,
    access,
    async handle(request) {
      const received = { ...request, receivedMs: clock.monotonicMs() }
      const result = await gate(received, () => answer(engine, received))
      const revision = result.kind === 'list' ? completeUpTo(result.list) : undefined
      if (revision !== undefined) deliver({ actor: request.actor, resource: request.resource, revision })
      return result
    },
    watch: (request, sink) =>
      gate({ ...request, verb: 'watch' }, async () => hub.open(registry.get(request.resource, request.version), request, sink)),
    readDocument: (actor, act) => gate({ actor, verb: 'get', resource: DOCUMENTS }, async () => act()),
    clientFor: (actor) => createSimClient(server, actor),
    definitions: () => registry.definitions(),
    findDefinition: (id) => registry.find(id)?.definition,
    revision: () => store.revision,
    observe(observer) {
      observers.add(observer)
      return () => void observers.delete(observer)
    },
    observeDeliveries(observer) {
      deliveryObservers.add(observer)
      return () => void deliveryObservers.delete(observer)
    },
    useAdmission: (admission) => void (engine.admission = admission),
    useFaults: (injector) => void (faults = injector),
    load: (objects) => loadObjects(engine, objects),
    compact: () => store.compact(),
  }
  return server
}

const DEFAULT_DELAY: DelayRange = { min: 0, max: 20 }
const SYSTEM_WRITER = { actor: { name: 'system:apiserver' }, verb: 'update' } as const

async function answer(engine: Engine, request: ApiRequest): Promise<ApiResult> {
  const served = engine.registry.get(request.resource, request.version)
  const { subresource } = request
  if (subresource !== undefined && !served.definition.subresources.includes(subresource)) throw noSuchResource()
  if (subresource === 'scale') return scaleObject(engine, request, served)
  if (subresource === 'binding' || subresource === 'eviction') return podAction(engine, request, served)
  switch (request.verb) {
    case 'get':
      return { kind: 'object', code: 200, object: storedObject(engine, request, served), warnings: [] }
    case 'list':
      return {
        kind: 'list',
        code: 200,
        list: listObjects(engine.store, served.definition, request.namespace, request.options ?? {}),
        warnings: [],
      }
    case 'create':
      if (subresource !== undefined) throw methodNotAllowed()
      return createObject(engine, request, served)
    case 'update':
    case 'patch':
      return changeObject(engine, request, served)
    case 'delete':
      if (request.name === undefined) throw badRequest('name must be provided')
      return deleteObject(engine, request, served)
    case 'deletecollection':
      return deleteCollection(engine, request, served)
    default:
      request.verb satisfies never
      throw methodNotAllowed()
  }
}

function loadObjects({ registry, store }: Engine, objects: readonly ApiObject[]): readonly ApiObject[] {
  const byKind = Map.groupBy(objects, ({ apiVersion, kind }) => `${apiVersion}/${kind}`)
  return [...byKind].flatMap(([name, alike]) => {
    const definition = registry
      .definitions()
      .find(({ group, versions, kind }) => versions.some((version) => name === `${[group, version].filter(Boolean).join('/')}/${kind}`))
    if (definition === undefined) throw new Error(`the API server serves no ${name}`)
    const schema = registry.get(idOf(definition)).schemas.get(definition.version)
    const whole = alike.map((object) => {
      const sent = schema?.prune(importJson(object) as JsonObject).object ?? object
      return definition.strategy.defaults((schema?.applyDefaults(sent) ?? sent) as ApiObject)
    })
    store.load(idOf(definition), whole)
    return whole
  })
}

/** Revision of a list, once its last page has been served. */
function completeUpTo({ metadata }: ApiList): number | undefined {
  return metadata.continue === undefined ? Number(metadata.resourceVersion) : undefined
}

async function podAction(engine: Engine, request: ApiRequest, served: Served): Promise<ApiResult> {
  if (request.verb !== 'create') throw methodNotAllowed()
  return request.subresource === 'binding' ? bindPod(engine, request, served) : evictPod(engine, request, served)
}
