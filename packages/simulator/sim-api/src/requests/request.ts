import type { Actor, ApiObject, ResourceId } from '../client.ts'
import type { ApiStatus } from '../status-error.ts'

/** What a request wants done. `watch` is not among them: a watch has no single answer, see `ApiServer.watch`. */
export type Verb = 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** The patch formats served; named as the media type without `application/` and `+json` or `+yaml`. */
export type PatchType = 'json-patch' | 'merge-patch' | 'strategic-merge-patch' | 'apply-patch'

/** How fields that the schema does not know are treated. @default `Ignore` here; over HTTP the front chooses as the API server does. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

/** One request as a value, after routing and decoding and before everything else. */
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
   * Decoded JSON: the object for create and update, the patch for patch, DeleteOptions for delete and deletecollection
   * (its fields win over `options`). Never changed by the server; it may be frozen.
   */
  readonly body?: unknown
  /** Needed by verb `patch`. */
  readonly patchType?: PatchType | undefined
  readonly options?: RequestOptions | undefined
  /** Subresource by which the writer owns what it writes, where that is not `subresource`. */
  readonly ownedAs?: string | undefined
  /** Looks at what create, update and patch are about to store. */
  readonly guard?: WriteGuard | undefined
  /** When the server took it in, on its monotonic clock; set by the server. */
  readonly receivedMs?: number | undefined
}

/** Looks at an object about to be stored, `old` undefined for a new one. Throws ApiStatusError to refuse it. */
export type WriteGuard = (object: ApiObject, old: ApiObject | undefined) => void

/** A request to watch. */
export interface WatchRequest {
  readonly actor: Actor
  readonly resource: ResourceId
  readonly version?: string | undefined
  readonly namespace?: string | undefined
  readonly options?: RequestOptions | undefined
}

/** Query parameters, each by its Kubernetes name and decoded. Unknown combinations are refused with 422 where Kubernetes does so. */
export interface RequestOptions {
  /** `true` stands for `dryRun=All`: everything is done but the write. */
  readonly dryRun?: boolean | undefined
  readonly fieldManager?: string | undefined
  /** Only for apply patches: fields that others own are taken from them. */
  readonly force?: boolean | undefined
  readonly fieldValidation?: FieldValidation | undefined
  readonly resourceVersion?: string | undefined
  readonly resourceVersionMatch?: string | undefined
  /** Most items in one list answer; absent or 0 means all. */
  readonly limit?: number | undefined
  readonly continue?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  readonly allowWatchBookmarks?: boolean | undefined
  readonly sendInitialEvents?: boolean | undefined
  /** After how many seconds a watch ends by itself. @default chosen by seed between 30 and 60 minutes */
  readonly timeoutSeconds?: number | undefined
  readonly propagationPolicy?: string | undefined
  readonly orphanDependents?: boolean | undefined
  readonly gracePeriodSeconds?: number | undefined
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined
}

/** The answer to a request that succeeded. A failed one rejects with `ApiStatusError`. */
export type ApiResult =
  | { readonly kind: 'object'; readonly code: 200 | 201; readonly object: ApiObject; readonly warnings: readonly string[] }
  | { readonly kind: 'list'; readonly code: 200; readonly list: ApiList; readonly warnings: readonly string[] }
  /** Success without an object: a removed object that was not returned, a binding, an eviction. */
  | { readonly kind: 'status'; readonly code: 200 | 201; readonly status: ApiStatus; readonly warnings: readonly string[] }

/** A list as served. Items carry `apiVersion` and `kind`; the front may leave them out as Kubernetes does. */
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

/** One line of a watch stream. */
export type WatchFrame =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ApiObject }
  | { readonly type: 'BOOKMARK'; readonly object: WatchBookmark }
  /** The last frame of its stream. */
  | { readonly type: 'ERROR'; readonly object: ApiStatus }

/** The object of a BOOKMARK: how far the watch has got, and nothing else. */
export interface WatchBookmark {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> }
}

/** Where the frames of a watch go. Called in order, never after `end` or after `Watching.stop`. Must not throw. */
export interface WatchSink {
  frame(frame: WatchFrame): void
  /** `closed`: the server ended the stream in good order. `cut`: an injected fault; over a socket the connection breaks. */
  end(how: 'closed' | 'cut'): void
}

/** Thrown where an injected fault cuts the connection of a request: no answer comes, the write may or may not have taken effect. */
export class ConnectionCutError extends Error {
  override readonly name = 'ConnectionCutError'

  constructor() {
    super('the connection was cut before an answer came')
  }
}
