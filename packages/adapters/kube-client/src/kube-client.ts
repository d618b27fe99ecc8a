import type { Clock } from '@tranche/clock'
import { type KubeObject, type ObjectKey, goJson } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { bodyText, type Exchange, type WireRequest, type WireResponse } from '@tranche/wire'
import { call, type CallLimits, type CallPorts } from './exchange/call.ts'
import { createCredentialNotice } from './credentials/credential-notice.ts'
import { createDeepCutter } from './cut-deep-objects.ts'
import type { JsonPatchOperation } from './json-patch.ts'
import { type ListPage, parseAnswer, readList, readPageFrom } from './list.ts'
import { type ParseJson, parserFor } from './parse-json.ts'
import { collectionPath, objectPath, type Query, type ResourcePath, withQuery } from './resource-path.ts'
import { createRandom } from './exchange/seeded-random.ts'
import { openWatch, type WatchEvent } from './watch-stream.ts'

/**
 * Kubernetes API client: values in, values out, one request per call (a list: one per chunk).
 *
 * Every method rejects with `KubeStatusError` if the server returns an error. It rejects with `AppError` API_UNREACHABLE or API_DEADLINE if
 * the server does not answer (a write may have happened then), and with the signal's reason when it aborts. For retries see {@link
 * createKubeClient}. Values that are nested more than 100 deep are cut: below that, null stands for every object and list.
 */
export interface KubeClient {
  get<T>(resource: ResourcePath, key: ObjectKey, options?: CallOptions): Promise<T>
  /** Reads one consistent snapshot of all objects, in chunks. */
  list<T>(resource: ResourcePath, options?: ListOptions<T>): Promise<KubeList<T>>
  /**
   * Creates `object` in the namespace of its metadata; returns it as stored. With a subresource, such as `eviction`, it is sent to the object
   * that its metadata names.
   */
  create<T extends Writable>(resource: ResourcePath, object: T, options?: WriteOptions): Promise<T & KubeObject>
  /** Replaces an object. A `metadata.resourceVersion` is a precondition: 409 if the object has another one. */
  update<T extends Writable>(resource: ResourcePath, object: T, options?: WriteOptions): Promise<T & KubeObject>
  patch<T>(resource: ResourcePath, key: ObjectKey, patch: KubePatch, options?: WriteOptions): Promise<T>
  /**
   * Requests deletion. A failed precondition is 409.
   *
   * @returns the object as the server answers it, with a deletionTimestamp where it remains for now; null if the answer has no object
   */
  delete<T extends KubeObject>(resource: ResourcePath, key: ObjectKey, options?: DeleteOptions): Promise<T | null>
  /** Yields the changes after `resourceVersion` until the server ends the stream. Leaving the loop closes it. */
  watch<T>(resource: ResourcePath, options: WatchOptions): AsyncIterable<WatchEvent<T>>
  /** Sends a GET to any path, such as `/version` or `/readyz`. */
  text(path: string, options?: CallOptions): Promise<string>
}

/** Limits of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Limit of the whole call with its retries (of a list: of each chunk), in milliseconds. @default 15000 */
  readonly deadlineMs?: number | undefined
}

/** Objects that a list or watch covers; all namespaces if none is given. */
export interface Scope {
  readonly namespace?: string
  /** Label selector, as in kubectl's `-l`: `app=agent,tier!=edge`. */
  readonly labelSelector?: string
  /** Field selector, as in kubectl's `--field-selector`: `spec.nodeName=node-7`. */
  readonly fieldSelector?: string
  /** Whether the server sends only the metadata of each object. @default false */
  readonly metadataOnly?: boolean
}

/** Options of a list. */
export interface ListOptions<T> extends CallOptions, Scope {
  /** Applied as each object arrives, so that whole objects need not be held; null drops one. @default keeps objects whole */
  readonly transform?: (object: KubeObject) => T | null
  /** Called with the length in characters of each object that is kept; what it throws ends the list. */
  readonly onKept?: ((characters: number) => void) | undefined
  /** Whether the answer may come from the API server's cache and be a moment old, which is much cheaper. @default false */
  readonly mayBeOld?: boolean
  /** ASCII word that every wanted object contains; other objects are dropped before they are parsed as JSON. */
  readonly mark?: string
  /** Maximum number of objects in one response. @default 500 */
  readonly chunk?: number
}

/** Consistent snapshot of all objects. */
export interface KubeList<T> {
  readonly items: readonly T[]
  /** Version from which a watch misses nothing. */
  readonly resourceVersion: string
}

/** Any object with a name (or generateName). */
export interface Writable {
  readonly metadata: { readonly name?: string; readonly generateName?: string; readonly namespace?: string }
}

/** Options of a write. */
export interface WriteOptions extends CallOptions {
  /** @default the part of the user agent before the slash */
  readonly fieldManager?: string
  /** Subresource to write, such as `status` or `eviction`. */
  readonly subresource?: string
  /** `Strict`: the server rejects (400) fields that its schema does not know, instead of dropping them. @default the server's */
  readonly fieldValidation?: 'Strict'
}

/** Patch in one of the three formats. Custom resources do not support `strategic`. */
export type KubePatch =
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] }
  | { readonly type: 'merge' | 'strategic'; readonly body: object }

/** @see meta/v1 DeleteOptions */
export interface DeleteOptions extends CallOptions {
  /** Deletes the object only if it has this uid and this version. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  /** @default the object's own */
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'
}

/** Options of a watch. */
export interface WatchOptions extends Scope {
  readonly resourceVersion: string
  readonly signal?: AbortSignal | undefined
  /** Limit from the request to the first line of the response, in milliseconds. @default 15000 */
  readonly deadlineMs?: number
  /**
   * Time without any byte after which the connection counts as dead, in milliseconds. @default 150000, over two bookmark intervals of the
   * API server
   */
  readonly idleTimeoutMs?: number
  /** Time after which the server ends the watch, in seconds. @default the server's, 30 to 60 minutes */
  readonly timeoutSeconds?: number
}

/** Dependencies and settings of {@link createKubeClient}. */
export interface KubeClientOptions {
  readonly exchange: Exchange
  /** Carries watches, so that long streams do not take connections from calls. @default exchange */
  readonly watchExchange?: Exchange
  readonly clock: Clock
  /**
   * User agent, such as `tranche-controller/0.1.0`. It appears in the server's audit log; the part before the slash is the field manager.
   */
  readonly userAgent: string
  readonly log: Logger
  /** Seed for the jitter of retries; should differ between processes. @default 0 */
  readonly seed?: number
}

const DEFAULT_DEADLINE_MS = 15_000
/** Default idle timeout of a watch; the API server sends a bookmark about once a minute. */
const DEFAULT_IDLE_TIMEOUT_MS = 150_000

const patchContentTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const satisfies Record<KubePatch['type'], string>

/**
 * Creates a client over a transport. Uses only `clock` for waiting.
 *
 * Reads are retried on 429, 5xx and broken connections; writes only on 429 with Retry-After. A 409 or 422 is never retried here, because
 * only the caller can read and decide again. Rejected credentials (401) are logged here, once for all calls.
 */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { clock, log } = options
  const notice = createCredentialNotice({ clock, log })
  const exchange = notice(options.exchange)
  const cutDeep = createDeepCutter(log)
  const watchExchange = options.watchExchange === undefined ? exchange : notice(options.watchExchange)
  const sender = createSender({ exchange, clock, log, random: createRandom(options.seed ?? 0) }, options.userAgent)
  const fieldManager = options.userAgent.split('/', 1)[0]

  return {
    get: (resource, key, callOptions) => sendJson(resource, { method: 'GET', path: objectPath(resource, key) }, callOptions),
    list<T>(resource: ResourcePath, listOptions: ListOptions<T> = {}) {
      const { transform = (object: KubeObject) => object as T } = listOptions
      const reading = { ...listOptions, transform: (object: KubeObject) => transform(cutDeep(resource, object)) }
      const path = collectionPath(resource, listOptions.namespace)
      return readList((query) => sender.sendList(withQuery(path, query), reading, parserFor(resource)), reading)
    },
    create(resource, object, writeOptions) {
      return sendJson(resource, { method: 'POST', path: creationPath(resource, object, writeOptions), body: json(object) }, writeOptions)
    },
    update(resource, object, writeOptions) {
      const path = objectPath(resource, keyOfWritable(object), writeOptions?.subresource)
      return sendJson(resource, { method: 'PUT', path, body: json(object) }, writeOptions)
    },
    patch(resource, key, patch, writeOptions) {
      const path = objectPath(resource, key, writeOptions?.subresource)
      return sendJson(
        resource,
        { method: 'PATCH', path, body: { contentType: patchContentTypes[patch.type], value: patch.body } },
        writeOptions,
      )
    },
    async delete<T extends KubeObject>(resource: ResourcePath, key: ObjectKey, deleteOptions: DeleteOptions = {}) {
      const sent = { method: 'DELETE', path: objectPath(resource, key), body: json(deleteBody(deleteOptions)) }
      return cutDeep(resource, deletedObject<T>(await sender.send(sent, deleteOptions)))
    },
    watch<T>(resource: ResourcePath, watchOptions: WatchOptions) {
      const received = (object: unknown): T => cutDeep(resource, object) as T
      const ports = { exchange: watchExchange, clock, parse: parserFor(resource), received }
      const path = withQuery(collectionPath(resource, watchOptions.namespace), watchQuery(watchOptions))
      const request = withAccept(sender.requestOf({ method: 'GET', path }), 'PartialObjectMetadata', watchOptions)
      return openWatch<T>(ports, request, watchLimits(watchOptions))
    },
    text: (path, callOptions) => sender.send({ method: 'GET', path }, callOptions),
  }

  /** Sends a read or a write of one object; a write with its parameters. */
  async function sendJson<T>(resource: ResourcePath, sent: Sent, limits: WriteOptions | undefined): Promise<T> {
    const { fieldValidation } = limits ?? {}
    const query = { fieldManager: limits?.fieldManager ?? fieldManager, ...(fieldValidation && { fieldValidation }) }
    const path = sent.method === 'GET' ? sent.path : withQuery(sent.path, query)
    const answer = await sender.send({ ...sent, path }, limits)
    return cutDeep(resource, parseAnswer<T>(answer, `${sent.method} ${path}`, parserFor(resource)))
  }
}

/** Request before its headers. */
interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: Body
}

interface Sender {
  requestOf(sent: Sent): WireRequest
  send(sent: Sent, limits: CallOptions | undefined): Promise<string>
  sendList<T>(path: string, listOptions: ListOptions<T>, parse: ParseJson): Promise<ListPage<T>>
}

function createSender(ports: CallPorts, userAgent: string): Sender {
  return { requestOf, send, sendList }

  function send(sent: Sent, limits: CallOptions | undefined): Promise<string> {
    return call(ports, { request: requestOf(sent), read: bodyText }, callLimits(limits))
  }

  function sendList<T>(path: string, listOptions: ListOptions<T>, parse: ParseJson): Promise<ListPage<T>> {
    const read = (response: WireResponse): Promise<ListPage<T>> => readPageFrom(`GET ${path}`, response.body, listOptions, parse)
    const request = withAccept(requestOf({ method: 'GET', path }), 'PartialObjectMetadataList', listOptions)
    return call(ports, { request, read }, callLimits(listOptions))
  }

  function requestOf({ method, path, body }: Sent): WireRequest {
    const headers = { accept: 'application/json', 'user-agent': userAgent }
    if (body === undefined) return { method, path, headers }
    return { method, path, headers: { ...headers, 'content-type': body.contentType }, body: goJson(body.value) }
  }
}

/** @see https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches */
function withAccept(request: WireRequest, as: string, { metadataOnly = false }: Scope): WireRequest {
  if (!metadataOnly) return request
  return { ...request, headers: { ...request.headers, accept: `application/json;as=${as};g=meta.k8s.io;v=v1` } }
}

function callLimits(options: CallOptions | undefined): CallLimits {
  return { deadlineMs: options?.deadlineMs ?? DEFAULT_DEADLINE_MS, signal: options?.signal }
}

function creationPath(resource: ResourcePath, object: Writable, { subresource }: WriteOptions = {}): string {
  if (subresource !== undefined) return objectPath(resource, keyOfWritable(object), subresource)
  return collectionPath(resource, object.metadata.namespace)
}

interface Body {
  readonly contentType: string
  readonly value: unknown
}

function json(value: unknown): Body {
  return { contentType: 'application/json', value }
}

function keyOfWritable(object: Writable): ObjectKey {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' }
}

function deleteBody(options: DeleteOptions): object {
  const { preconditions, gracePeriodSeconds, propagationPolicy } = options
  return { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, gracePeriodSeconds, propagationPolicy }
}

/** The deletion was accepted, so an answer that cannot be read is no error. */
function deletedObject<T extends KubeObject>(answer: string): T | null {
  try {
    const object = JSON.parse(answer) as Partial<T> | null
    return typeof object?.metadata?.uid === 'string' ? (object as T) : null
  } catch {
    return null
  }
}

function watchQuery(options: WatchOptions): Query {
  const { labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options
  return { watch: true, allowWatchBookmarks: true, labelSelector, fieldSelector, resourceVersion, timeoutSeconds }
}

function watchLimits(options: WatchOptions): Parameters<typeof openWatch>[2] {
  return {
    deadlineMs: options.deadlineMs ?? DEFAULT_DEADLINE_MS,
    idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
    signal: options.signal,
  }
}
