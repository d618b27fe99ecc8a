import type { Clock } from '@tranche/clock'
import type { Logger } from '@tranche/log'

/** The object an event is about. */
export interface EventRegarding {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Undefined or empty for a cluster-scoped object; its events stand in `default`. */
  readonly namespace?: string
  readonly uid: string
}

/** `Warning`: somebody should look. */
export type EventType = 'Normal' | 'Warning'

/** @see core/v1 Event, as we create it */
export interface CoreEvent {
  readonly apiVersion: 'v1'
  readonly kind: 'Event'
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly involvedObject: EventRegarding
  readonly type: EventType
  readonly reason: string
  readonly message: string
  readonly source: { readonly component: string }
  readonly reportingComponent: string
  readonly reportingInstance: string
  readonly count: 1
  readonly firstTimestamp: string
  readonly lastTimestamp: string
}

/** What the recorder needs from the cluster. */
export interface EventPort {
  /** Creates one event in the namespace of its metadata. */
  create(event: CoreEvent): Promise<void>
}

/** Settings of {@link createEventRecorder}. */
export interface EventRecorderOptions {
  readonly port: EventPort
  /** Who reports: `tranche-controller`. */
  readonly component: string
  /** Which replica reports. @default the component */
  readonly instance?: string
  readonly clock: Clock
  /** @default silent */
  readonly log?: Logger
  /** Most events that wait to be sent; further ones are dropped. @default 1_000 */
  readonly capacity?: number
}

/** Writes events, so that `kubectl describe` tells what happened. */
export interface EventRecorder {
  /**
   * Queues one event and returns at once. Never throws: an event is a courtesy, no pass waits for it or fails by it.
   *
   * @param reason CamelCase, the same word as in conditions and logs
   * @param message a sentence with names and numbers; cut at 1,024 bytes
   */
  record(regarding: EventRegarding, type: EventType, reason: string, message: string): void
  /** Resolves when everything recorded so far was sent or has failed. */
  flush(): Promise<void>
}

/** @returns a recorder that sends one event after the other, in order */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  throw new Error(`not ready: ${options.component}`)
}
