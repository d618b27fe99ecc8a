import type { ApiObject, ResourceId } from '../model/client.ts'
import type { ApiStatusError } from '../model/status-error.ts'
import type { Verb } from '../model/request.ts'

/** Request attributes for fault selection. */
export interface FaultCall {
  readonly actor: string
  /** Undefined in process. */
  readonly userAgent: string | undefined
  readonly verb: Verb | 'watch'
  readonly resource: ResourceId
  readonly subresource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  /** Number of requests by this actor, including this one: from 1. */
  readonly count: number
}

/** Fault of a request. With verb `watch`, `after` means the same as `before`. */
export type RequestFault =
  /** Responds with this error; the request has no effect. */
  | { readonly kind: 'error'; readonly error: ApiStatusError }
  /** Responds with 409 Conflict; the request has no effect. */
  | { readonly kind: 'conflict' }
  /** `before`: the request arrives late. `after`: it takes effect at once, and the response arrives late. */
  | { readonly kind: 'delay'; readonly ms: number; readonly when: 'before' | 'after' }
  /** No response. `before`: the request had no effect. `after`: it had. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'after' }

/** Watch event attributes for fault selection. */
export interface FaultEvent {
  readonly actor: string
  /** Undefined in process. */
  readonly userAgent: string | undefined
  readonly resource: ResourceId
  /** Index of the watch by this actor: from 1. */
  readonly watch: number
  /** Index of the event in this watch: from 1. */
  readonly event: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: ApiObject
}

/** Fault of a watch. */
export type WatchFault =
  /** The connection breaks before this event; the watcher may resume from its position. */
  | { readonly kind: 'cut' }
  /** The stream ends with 410 Expired before this event: the watcher must list again and never sees the events in between. */
  | { readonly kind: 'gap' }
  /** This event, and so all after it, is delayed by this time in milliseconds. */
  | { readonly kind: 'delay'; readonly ms: number }
  /**
   * Nothing is delivered from now on, including bookmarks. The connection stays open for `ms` (Infinity: until the watcher ends it), then
   * breaks.
   */
  | { readonly kind: 'stall'; readonly ms: number }

/** Selects faults. Must be deterministic: the same calls in the same order get the same faults. */
export interface FaultInjector {
  readonly onRequest?: (call: FaultCall) => RequestFault | undefined
  readonly onEvent?: (event: FaultEvent) => WatchFault | undefined
}
