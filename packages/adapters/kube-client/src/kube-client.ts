import type { Clock } from '@tranche/clock'
import type { KubeObject, ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
import { bodyText, type Exchange, type WireRequest, type WireResponse } from '@tranche/wire'
import { call, type CallLimits } from './call.ts'
import { createCredentialNotice } from './credential-notice.ts'
import type { JsonPatchOperation } from './json-patch.ts'
import { type ListPage, parseAnswer, readList, readPageFrom } from './list.ts'
import { collectionPath, objectPath, type Query, type ResourcePath, withQuery } from './resource-path.ts'
import { createRandom } from './seeded-random.ts'
import { openWatch, type WatchEvent } from './watch-stream.ts'

/**
 * The Kubernetes API as we use it: values in, values out, one request per call (a list: one per chunk).
 *
 * Every method rejects with `KubeStatusError` when the server answers with an error, with `AppError` API_UNREACHABLE or
 * API_DEADLINE when it does not answer (a write may have happened then), and with the signal's reason when it aborts.
 * What is tried again by itself: {@link createKubeClient}.
 */
export interface KubeClient {
  get<T>(resource: ResourcePath, key: ObjectKey, options?: CallOptions): Promise<T>
  /** Reads all objects as of one moment, in chunks. */
  list<T>(resource: ResourcePath, options?: ListOptions<T>): Promise<KubeList<T>>
  /** Creates `object` in the namespace that its metadata names; returns it as stored. */
  create<T extends Writable>(resource: ResourcePath, object: T, options?: WriteOptions): Promise<T & KubeObject>
  /** Replaces an object. A `metadata.resourceVersion` is a precondition: 409 when the object has another. */
  update<T extends Writable>(resource: ResourcePath, object: T, options?: WriteOptions): Promise<T & KubeObject>
  patch<T>(resource: ResourcePath, key: ObjectKey, patch: KubePatch, options?: WriteOptions): Promise<T>
  /** Asks for deletion; the object may stand on, with a deletionTimestamp. A failed precondition is 409. */
  delete(resource: ResourcePath, key: ObjectKey, options?: DeleteOptions): Promise<void>
  /** Sends what happens after `resourceVersion`, until the server ends the stream. Leaving the loop closes it. */
  watch<T>(resource: ResourcePath, options: WatchOptions): AsyncIterable<WatchEvent<T>>
  /** GETs any path, such as `/version` or `/readyz`. */
  text(path: string, options?: CallOptions): Promise<string>
}

/** Limits of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** For the whole call with its retries (of a list: for each chunk), in milliseconds. @default 15000 */
  readonly deadlineMs?: number | undefined
}

/** Which objects a list or watch is about; all namespaces where none is given. */
export interface Scope {
  readonly namespace?: string
  /** As kubectl's `-l`: `app=agent,tier!=edge`. */
  readonly labelSelector?: string
  /** As kubectl's `--field-selector`: `spec.nodeName=node-7`. */
  readonly fieldSelector?: string
}

/** What to list, and what to keep of it. */
export interface ListOptions<T> extends CallOptions, Scope {
  /** Chosen as each object arrives, so that whole ones need not be held; null leaves one out. @default keeps objects whole */
  readonly transform?: (object: KubeObject) => T | null
  /** Called with the length in characters of each object of which something is kept; what it throws ends the list. */
  readonly onKept?: ((characters: number) => void) | undefined
  /** A word that stands in every object that is wanted, of ASCII letters: others are left out before they are read as JSON. */
  readonly mark?: string
}

/** All objects as of one moment. */
export interface KubeList<T> {
  readonly items: readonly T[]
  /** A watch from here misses nothing. */
  readonly resourceVersion: string
}

/** What can be written: any object with a name (or generateName). */
export interface Writable {
  readonly metadata: { readonly name?: string; readonly generateName?: string; readonly namespace?: string }
}

/** How a write is made. */
export interface WriteOptions extends CallOptions {
  /** @default the part of the user agent before the slash */
  readonly fieldManager?: string
  /** `status` writes only the status, through its own endpoint. */
  readonly subresource?: string
  /** `Strict`: the server rejects (400) what its schema does not know, instead of dropping it. @default as the server does */
  readonly fieldValidation?: 'Strict'
}

/** A change, in one of the three languages. Custom resources do not speak `strategic`. */
export type KubePatch =
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] }
  | { readonly type: 'merge' | 'strategic'; readonly body: object }

/** @see meta/v1 DeleteOptions */
export interface DeleteOptions extends CallOptions {
  /** Deletes only this very object, only in this version. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  /** @default what the object says */
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'
}

/** What to watch, and when to give up. */
export interface WatchOptions extends Scope {
  readonly resourceVersion: string
  readonly signal?: AbortSignal | undefined
  /** From the request to the first line of the answer, in milliseconds. @default 15000 */
  readonly deadlineMs?: number
  /** Without any byte for so long, in milliseconds, the connection counts as dead. @default 150000, over two bookmark intervals of the API server */
  readonly idleTimeoutMs?: number
  /** After so long, in seconds, the server ends the watch by itself. @default the server's, 30 to 60 minutes */
  readonly timeoutSeconds?: number
}

/** What a client is made of. */
export interface KubeClientOptions {
  readonly exchange: Exchange
  /** Carries watches, so that long streams do not take connections from calls. @default exchange */
  readonly watchExchange?: Exchange
  readonly clock: Clock
  /** `tranche-controller/0.1.0`: stands in the server's audit log; what precedes the slash is the field manager. */
  readonly userAgent: string
  readonly log: Logger
  /** Decides the jitter of retries; should differ between processes. @default 0 */
  readonly seed?: number
}

const DEFAULT_DEADLINE_MS = 15_000
/** The API server sends a bookmark about once a minute. */
const DEFAULT_IDLE_TIMEOUT_MS = 150_000

const patchContentTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const satisfies Record<KubePatch['type'], string>

/**
 * Builds a client over a transport. Waits by `clock` alone.
 *
 * Reads are tried again on 429, 5xx and broken connections; writes only on 429 with Retry-After. A 409 or 422 is never
 * tried again here: only the caller can read anew and decide anew. Credentials that the server does not accept (401) are logged here, once
 * for all calls.
 */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { clock, log } = options
  const notice = createCredentialNotice({ clock, log })
  const exchange = notice(options.exchange)
  const ports = { exchange, clock, log, random: createRandom(options.seed ?? 0) }
  const watchPorts = { exchange: options.watchExchange === undefined ? exchange : notice(options.watchExchange), clock }
  const fieldManager = options.userAgent.split('/', 1)[0]

  return {
    get: (resource, key, callOptions) => sendJson('GET', objectPath(resource, key), callOptions),
    list: (resource, listOptions = {}) =>
      readList((query) => sendList(withQuery(collectionPath(resource, listOptions.namespace), query), listOptions), listOptions),
    create: (resource, object, writeOptions) =>
      sendJson('POST', writePath(collectionPath(resource, object.metadata.namespace), writeOptions), writeOptions, json(object)),
    update(resource, object, writeOptions) {
      const path = objectPath(resource, keyOfWritable(object), writeOptions?.subresource)
      return sendJson('PUT', writePath(path, writeOptions), writeOptions, json(object))
    },
    patch(resource, key, patch, writeOptions) {
      const path = writePath(objectPath(resource, key, writeOptions?.subresource), writeOptions)
      return sendJson('PATCH', path, writeOptions, { contentType: patchContentTypes[patch.type], value: patch.body })
    },
    delete: async (resource, key, deleteOptions = {}) => {
      await send('DELETE', objectPath(resource, key), deleteOptions, json(deleteBody(deleteOptions)))
    },
    watch: (resource, watchOptions) => openWatch(watchPorts, watchRequest(resource, watchOptions), watchLimits(watchOptions)),
    text: (path, callOptions) => send('GET', path, callOptions),
  }

  async function sendJson<T>(method: string, path: string, limits: CallOptions | undefined, body?: Body): Promise<T> {
    return parseAnswer(await send(method, path, limits, body), `${method} ${path}`)
  }

  function send(method: string, path: string, limits: CallOptions | undefined, body?: Body): Promise<string> {
    return call(ports, { request: requestOf(method, path, body), read: bodyText }, callLimits(limits))
  }

  function sendList<T>(path: string, listOptions: ListOptions<T>): Promise<ListPage<T>> {
    const read = (response: WireResponse): Promise<ListPage<T>> => readPageFrom(`GET ${path}`, response.body, listOptions)
    return call(ports, { request: requestOf('GET', path), read }, callLimits(listOptions))
  }

  function watchRequest(resource: ResourcePath, watchOptions: WatchOptions): WireRequest {
    return requestOf('GET', withQuery(collectionPath(resource, watchOptions.namespace), watchQuery(watchOptions)))
  }

  function requestOf(method: string, path: string, body?: Body): WireRequest {
    const headers = { accept: 'application/json', 'user-agent': options.userAgent }
    if (body === undefined) return { method, path, headers }
    return { method, path, headers: { ...headers, 'content-type': body.contentType }, body: jsonText(body.value) }
  }

  function writePath(path: string, writeOptions: WriteOptions | undefined): string {
    const { fieldValidation } = writeOptions ?? {}
    return withQuery(path, { fieldManager: writeOptions?.fieldManager ?? fieldManager, ...(fieldValidation && { fieldValidation }) })
  }
}

function callLimits(options: CallOptions | undefined): CallLimits {
  return { deadlineMs: options?.deadlineMs ?? DEFAULT_DEADLINE_MS, signal: options?.signal }
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

/**
 * JSON as API servers write it, with `<`, `>`, `&` and two separators of lines escaped: they compare the strings of a `test` of a JSON Patch
 * letter by letter as they are written, and not by what they mean.
 */
function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
