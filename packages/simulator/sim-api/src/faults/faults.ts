import type { ApiObject, ResourceId } from '../client.ts'
import type { ApiStatusError } from '../status-error.ts'
import type { Verb } from '../requests/request.ts'

/** One request, as faults are chosen for it. */
export interface FaultCall {
  readonly actor: string
  /** Undefined in process. */
  readonly userAgent: string | undefined
  readonly verb: Verb | 'watch'
  readonly resource: ResourceId
  readonly subresource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  /** How many requests this actor has sent, this one included: from 1. */
  readonly count: number
}

/** What goes wrong with a request. With verb `watch`, `after` means the same as `before`. */
export type RequestFault =
  /** The answer is this error; nothing is done. */
  | { readonly kind: 'error'; readonly error: ApiStatusError }
  /** The answer is 409 Conflict; nothing is done. */
  | { readonly kind: 'conflict' }
  /** `before`: the request arrives late. `after`: it takes effect at once, and the answer arrives late. */
  | { readonly kind: 'delay'; readonly ms: number; readonly when: 'before' | 'after' }
  /** No answer comes. `before`: the request had no effect. `after`: it had. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'after' }

/** One event about to be sent to a watcher, as faults are chosen for it. */
export interface FaultEvent {
  readonly actor: string
  /** Undefined in process. */
  readonly userAgent: string | undefined
  readonly resource: ResourceId
  /** Which watch of this actor: from 1. */
  readonly watch: number
  /** Which event of this watch: from 1. */
  readonly event: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: ApiObject
}

/** What goes wrong with a watch. */
export type WatchFault =
  /** The connection breaks before this event; the watcher may come again from where it was. */
  | { readonly kind: 'cut' }
  /** The stream ends with 410 Expired before this event: the watcher must list again and never sees what lay between. */
  | { readonly kind: 'gap' }
  /** This event, and so all after it, arrives later by this much. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Nothing is delivered from now on, bookmarks included; the connection stays open for `ms` (Infinity: until the watcher ends it), then breaks. */
  | { readonly kind: 'stall'; readonly ms: number }

/** Decides what goes wrong. Must be deterministic: the same calls in the same order get the same faults. */
export interface FaultInjector {
  readonly onRequest?: (call: FaultCall) => RequestFault | undefined
  readonly onEvent?: (event: FaultEvent) => WatchFault | undefined
}
