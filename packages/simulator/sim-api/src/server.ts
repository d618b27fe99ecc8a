import type { Clock } from '@tranche/clock'
import type { Actor, ApiObject, ResourceId, SimClient, Watching } from './model/client.ts'
import { schemaSource } from './schema/schema-source.ts'
import { importJson, type JsonObject } from './model/json.ts'
import { createRandom } from './model/random.ts'
import { Store } from './store/store.ts'
import type { AccessControl } from './auth/access.ts'
import { type Authorizer, createAuthorizer } from './auth/authorizer.ts'
import { createFirstRoles, followAccess } from './auth/follow-access.ts'
import { createServiceAccountTokens, type ReadObject } from './auth/service-account-tokens.ts'
import { createConditions } from './admission/match-conditions.ts'
import { createPolicies } from './admission/policies/policies.ts'
import { createWebhookClient, type WebhookOptions } from './admission/webhook-client.ts'
import { createWebhooks } from './admission/webhooks.ts'
import { storeKey } from './store/bucket.ts'
import type { Change } from './store/change.ts'
import type { Admission } from './admission/admission.ts'
import { builtInResources } from './resources/built-in-resources.ts'
import { createFirstObjects } from './requests/first-objects.ts'
import { followCustomResources } from './resources/custom-resources.ts'
import type { Engine } from './engine/engine.ts'
import { timestamp } from './model/timestamp.ts'
import { createFaultGate, type FaultGate } from './faults/fault-gate.ts'
import type { FaultInjector } from './faults/faults.ts'
import { createNameRandom } from './model/names.ts'
import { isOfWholeResource } from './model/selectors.ts'
import { Registry } from './resources/registry.ts'
import type { ApiList, ApiRequest, ApiResult, Verb, WatchRequest, WatchSink } from './model/request.ts'
import { idOf, type ResourceDefinition, type SchemaSource } from './model/resource-definition.ts'
import { answerRequest } from './answer-request.ts'
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
  return new InProcessApiServer(options)
}

const DEFAULT_DELAY: DelayRange = { min: 0, max: 20 }
const SYSTEM_WRITER = { actor: { name: 'system:apiserver' }, verb: 'update' } as const

class InProcessApiServer implements ApiServer {
  readonly clock: Clock
  readonly access: AccessControl
  readonly #engine: Engine
  readonly #hub: WatchHub
  readonly #gate: FaultGate
  /** Parts that follow every change, in this order; they may write to the store again. */
  readonly #followers: readonly ((change: Change) => void)[]
  readonly #observers = new Set<(write: AcceptedWrite) => void>()
  readonly #deliveryObservers = new Set<(delivery: Delivery) => void>()
  #faults: FaultInjector | undefined

  constructor(options: ApiServerOptions) {
    const { clock, seed, schemas = schemaSource, watchDelayMs: delayMs = DEFAULT_DELAY } = options
    this.clock = clock
    const engine = createEngine(options, (change) => this.#onChange(change))
    const { store, webhooks, policies } = engine
    this.#engine = engine
    const faults = (): FaultInjector | undefined => this.#faults
    this.#hub = new WatchHub({ clock, store, seed, delayMs, faults, deliver: (delivery) => this.#deliver(delivery) })
    this.#gate = createFaultGate(clock, faults)
    const authorizer = createAuthorizer(store)
    this.access = createAccess(engine, authorizer)
    const accessObjects = { store, names: createRandom(seed, 'access'), now: () => timestamp(clock.nowMs()) }
    this.#followers = [
      (change) => authorizer.follow(change),
      (change) => webhooks.follow(change),
      (change) => policies.follow(change),
      this.#followCustomResources(schemas),
      followAccess(accessObjects),
    ]
    addBuiltInResources(engine, schemas)
    createFirstObjects(engine)
    createFirstRoles(accessObjects)
  }

  async handle(request: ApiRequest): Promise<ApiResult> {
    const received = { ...request, receivedMs: this.clock.monotonicMs() }
    const result = await this.#gate(received, () => answerRequest(this.#engine, received))
    const revision = result.kind === 'list' && isOfWholeResource(request.options ?? {}) ? completeUpTo(result.list) : undefined
    if (revision !== undefined) this.#deliver({ actor: request.actor, resource: request.resource, revision })
    return result
  }

  watch(request: WatchRequest, sink: WatchSink): Promise<Watching> {
    return this.#gate({ ...request, verb: 'watch' }, async () =>
      this.#hub.open(this.#engine.registry.get(request.resource, request.version), request, sink),
    )
  }

  readDocument<T>(actor: Actor, act: () => T): Promise<T> {
    return this.#gate({ actor, verb: 'get', resource: DOCUMENTS }, async () => act())
  }

  clientFor(actor: Actor): SimClient {
    return createSimClient(this, actor)
  }

  definitions(): readonly ResourceDefinition[] {
    return this.#engine.registry.definitions()
  }

  findDefinition(id: ResourceId): ResourceDefinition | undefined {
    return this.#engine.registry.find(id)?.definition
  }

  revision(): number {
    return this.#engine.store.revision
  }

  observe(observer: (write: AcceptedWrite) => void): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  observeDeliveries(observer: (delivery: Delivery) => void): () => void {
    this.#deliveryObservers.add(observer)
    return () => void this.#deliveryObservers.delete(observer)
  }

  useAdmission(admission: Admission | undefined): void {
    this.#engine.admission = admission
  }

  useFaults(faults: FaultInjector | undefined): void {
    this.#faults = faults
  }

  load(objects: readonly ApiObject[]): readonly ApiObject[] {
    return loadObjects(this.#engine, objects)
  }

  compact(): void {
    this.#engine.store.compact()
  }

  #onChange(change: Change): void {
    const engine = this.#engine
    const kind = engine.registry.find(change.id)?.definition.kind ?? ''
    const { type, id: resource, object, previous } = change
    const by = engine.writer ?? SYSTEM_WRITER
    for (const observer of this.#observers) observer({ type, resource, kind, object, previous, ...by })
    this.#hub.dispatch(change)
    const { writer } = engine
    engine.writer = undefined
    for (const follow of this.#followers) follow(change)
    engine.writer = writer
  }

  #deliver(delivery: Delivery): void {
    for (const observer of this.#deliveryObservers) observer(delivery)
  }

  #followCustomResources(schemas: SchemaSource): (change: Change) => void {
    const { store, registry } = this.#engine
    return followCustomResources({
      store,
      registry,
      schemas,
      nowMs: () => this.clock.nowMs(),
      onReplaced: ({ group, plural }) => this.#hub.closeAll({ group, resource: plural }, REPLACED_WATCH_MS),
    })
  }
}

/** Part of the server that must be called with every change. */
interface Follower {
  readonly follow: (change: Change) => void
}

function createEngine(
  options: ApiServerOptions,
  onChange: (change: Change) => void,
): Engine & { readonly webhooks: Follower; readonly policies: Follower } {
  const { clock, seed, historySize = 10_000, firstRevision = 1000 } = options
  const registry = new Registry()
  const store = new Store({ firstRevision, historySize, onChange })
  const call = createWebhookClient(options.webhooks)
  return {
    clock,
    store,
    registry,
    names: createNameRandom(seed),
    admission: undefined,
    webhooks: createWebhooks({ store, call, names: createRandom(seed, 'webhooks'), meets: createConditions() }),
    policies: createPolicies({ store, findKind: (apiVersion, kind) => registry.findKind(apiVersion, kind) }),
    writer: undefined,
  }
}

function createAccess({ clock, store }: Engine, authorizer: Authorizer): AccessControl {
  const readObject: ReadObject = (id, name, namespace) => store.bucket(id).get(storeKey(namespace, name))
  return { ...authorizer, tokens: createServiceAccountTokens(() => clock.nowMs(), readObject), readObject }
}

function addBuiltInResources({ registry }: Engine, schemas: SchemaSource): void {
  for (const definition of builtInResources(schemas))
    registry.add(definition, (version) => schemas.builtIn(definition.group, version, definition.kind))
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
