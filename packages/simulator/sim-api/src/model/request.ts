import type { Actor, ApiObject, ResourceId } from './client.ts'
import type { ApiStatus } from './status-error.ts'

/** Operation of a request. A watch has no single response and is not among them, see `ApiServer.watch`. */
export type Verb = 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** Supported patch formats, as the media type without `application/` and `+json` or `+yaml`. */
export type PatchType = 'json-patch' | 'merge-patch' | 'strategic-merge-patch' | 'apply-patch'

/** Treatment of fields that the schema does not know. @default `Ignore` here; over HTTP the front chooses like the API server. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

/** Request as a value, after routing and decoding and before everything else. */
export interface ApiRequest {
  readonly actor: Actor
  readonly verb: Verb
  readonly resource: ResourceId
  /** Version in the request path (`v1`, `v1beta1`). @default the storage version. Objects are not converted between versions. */
  readonly version?: string | undefined
  /** Absent for cluster-scoped resources and for lists over all namespaces. */
  readonly namespace?: string | undefined
  /** Absent for create, list and deletecollection. */
  readonly name?: string | undefined
  /** `status` where the resource has it; `binding` and `eviction` of pods (verb create). */
  readonly subresource?: string | undefined
  /**
   * Decoded JSON: the object for create and update, the patch for patch, DeleteOptions for delete and deletecollection (its fields win over
   * `options`). The server never changes it; it may be frozen.
   */
  readonly body?: unknown
  /** Required by verb `patch`. */
  readonly patchType?: PatchType | undefined
  readonly options?: RequestOptions | undefined
  /** Subresource of the field manager, when it differs from `subresource`. */
  readonly ownedAs?: string | undefined
  /** Check of what create, update and patch are about to store. */
  readonly guard?: WriteGuard | undefined
  /** Arrival time on the server's monotonic clock; set by the server. */
  readonly receivedMs?: number | undefined
}

/** Checks an object about to be stored; `old` is undefined for a new one. Throws ApiStatusError to reject it. */
export type WriteGuard = (object: ApiObject, old: ApiObject | undefined) => void

/** Watch request. */
export interface WatchRequest {
  readonly actor: Actor
  readonly resource: ResourceId
  readonly version?: string | undefined
  readonly namespace?: string | undefined
  readonly options?: RequestOptions | undefined
}

/** Decoded query parameters by their Kubernetes names. Combinations that Kubernetes rejects are rejected with 422. */
export interface RequestOptions {
  /** `true` means `dryRun=All`: everything except the write. */
  readonly dryRun?: boolean | undefined
  readonly fieldManager?: string | undefined
  /** Only for apply patches: takes over fields of other managers. */
  readonly force?: boolean | undefined
  readonly fieldValidation?: FieldValidation | undefined
  readonly resourceVersion?: string | undefined
  readonly resourceVersionMatch?: string | undefined
  /** Maximum number of items per list page; absent or 0 means all. */
  readonly limit?: number | undefined
  readonly continue?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  readonly allowWatchBookmarks?: boolean | undefined
  readonly sendInitialEvents?: boolean | undefined
  /** Seconds after which a watch ends by itself. @default chosen by seed between 30 and 60 minutes */
  readonly timeoutSeconds?: number | undefined
  readonly propagationPolicy?: string | undefined
  readonly orphanDependents?: boolean | undefined
  readonly gracePeriodSeconds?: number | undefined
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined
}

/** Successful response. A failed request rejects with `ApiStatusError`. */
export type ApiResult =
  | { readonly kind: 'object'; readonly code: 200 | 201; readonly object: ApiObject; readonly warnings: readonly string[] }
  | { readonly kind: 'list'; readonly code: 200; readonly list: ApiList; readonly warnings: readonly string[] }
  /** Success without an object: a removed object that was not returned, a binding, an eviction. */
  | { readonly kind: 'status'; readonly code: 200 | 201; readonly status: ApiStatus; readonly warnings: readonly string[] }

/** List as served. Items carry `apiVersion` and `kind`; the front may omit them like Kubernetes. */
export interface ApiList {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly resourceVersion: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items: readonly ApiObject[]
}

/** Line of a watch stream. */
export type WatchFrame =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ApiObject }
  | { readonly type: 'BOOKMARK'; readonly object: WatchBookmark }
  /** Last frame of its stream. */
  | { readonly type: 'ERROR'; readonly object: ApiStatus }

/** Object of a BOOKMARK, which holds only the position of the watch. */
export interface WatchBookmark {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> }
}

/** Sink for the frames of a watch. Called in order, never after `end` or `Watching.stop`. Must not throw. */
export interface WatchSink {
  frame(frame: WatchFrame): void
  /** `closed`: the server ended the stream without an error. `cut`: an injected fault; over a socket the connection breaks. */
  end(how: 'closed' | 'cut'): void
}

/** Thrown when an injected fault cuts the connection of a request: there is no response, and the write may or may not have taken effect. */
export class ConnectionCutError extends Error {
  override readonly name = 'ConnectionCutError'

  constructor() {
    super('the connection was cut before an answer came')
  }
}
