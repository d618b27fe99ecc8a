import type { Clock } from '@tranche/clock'
import { createNamespaceLines, type NamespaceLines } from '@tranche/queue'
import { silentLogger, type Logger } from '@tranche/telemetry'
import { keyText } from '@tranche/kube-types'
import { createEventCorrelator, type EventCorrelator } from './event-correlator.ts'

/** Object that an event is about. */
export interface EventRegarding {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Undefined or empty for a cluster-scoped object; its events are in `default`. */
  readonly namespace?: string
  readonly uid: string
}

/** `Warning`: a person should look. */
export type EventType = 'Normal' | 'Warning'

/** @see core/v1 Event, with the fields that Tranche creates */
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
  /** Number of occurrences since `firstTimestamp` (≥ 1). */
  readonly count: number
  readonly firstTimestamp: string
  readonly lastTimestamp: string
}

/** Cluster access of the recorder. */
export interface EventPort {
  /** Creates one event in the namespace of its metadata. */
  create(event: CoreEvent): Promise<void>
  /** Writes count, message and last time of an existing event. @returns false if it no longer exists */
  repeat(event: CoreEvent): Promise<boolean>
}

/** Settings of {@link createEventRecorder}. */
export interface EventRecorderOptions {
  readonly port: EventPort
  /** Reporting component, such as `tranche-controller`. */
  readonly component: string
  /** Reporting replica; keeps the names of its events distinct from other replicas'. @default the component */
  readonly instance?: string
  readonly clock: Clock
  /** @default silent */
  readonly log?: Logger
  /** Maximum number of events waiting to be sent; above it, the namespace with the most loses its last one. @default 1_000 */
  readonly capacity?: number
}

/** Writes events, which `kubectl describe` shows. */
export interface EventRecorder {
  /**
   * Queues one event and returns at once. Never throws: no pass waits for an event or fails because of it.
   *
   * @param reason CamelCase, the same word as in conditions and logs
   * @param message a sentence with names and numbers; truncated to 1,024 bytes
   */
  record(regarding: EventRegarding, type: EventType, reason: string, message: string): void
  /** Resolves when every event recorded so far was sent or has failed. */
  flush(): Promise<void>
}

/**
 * @returns a recorder that sends events one after the other, each once. Namespaces take turns, and the events of one are in order. Repeated
 *   events are counted or dropped ({@link createEventCorrelator}). Events that fail or find the queue full are lost; the first loss is
 *   logged, and the first after a recovery
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const state: State = {
    ...options,
    instance: options.instance ?? options.component,
    log: options.log ?? silentLogger,
    capacity: options.capacity ?? 1_000,
    correlator: createEventCorrelator(options.clock),
    nameSalt: hash(`${options.component}/${options.instance ?? ''}`),
    waiting: createNamespaceLines(),
    sending: null,
    recorded: 0,
    isLosing: false,
  }
  return {
    record: (...about) => enqueue(state, about),
    flush: () => state.sending ?? Promise.resolve(),
  }
}

interface State extends Required<EventRecorderOptions> {
  readonly correlator: EventCorrelator
  readonly nameSalt: number
  readonly waiting: NamespaceLines<CoreEvent>
  /** Settles when nothing waits; null while nothing is sent. */
  sending: Promise<void> | null
  recorded: number
  isLosing: boolean
}

function enqueue(state: State, about: Parameters<EventRecorder['record']>): void {
  const event = toEvent(state, ...about)
  const { name, namespace } = event.metadata
  const key = keyText({ namespace, name })
  const underWay = state.sending === null ? 0 : 1
  if (state.waiting.size + underWay >= state.capacity) {
    lose(state, new Error(`${state.capacity} events wait already`))
    if (!state.waiting.makeRoom(key)) return
  }
  state.waiting.add(key, event)
  state.sending ??= sendAll(state)
}

async function sendAll(state: State): Promise<void> {
  for (let next = state.waiting.takeNext(); next !== null; next = state.waiting.takeNext()) {
    try {
      await send(state, next.value)
      state.isLosing = false
    } catch (error) {
      lose(state, error)
    }
    state.waiting.leave(next.key)
  }
  state.sending = null
}

async function send({ correlator, port }: State, event: CoreEvent): Promise<void> {
  const write = correlator.correlate(event)
  if (write.kind === 'drop') return
  if (write.kind === 'repeat' && (await port.repeat(write.event))) return correlator.stands(write.event)
  // Events are deleted after an hour by default, so a later repetition is a new event.
  const created = { ...event, message: write.event.message }
  await port.create(created)
  correlator.stands(created)
}

function lose(state: State, error: unknown): void {
  if (!state.isLosing) state.log.warn({ err: error }, 'lost events')
  state.isLosing = true
}

function toEvent(state: State, regarding: EventRegarding, type: EventType, reason: string, message: string): CoreEvent {
  const atMs = state.clock.nowMs()
  const timestamp = new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z')
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: eventName(state, regarding.name, atMs), namespace: regarding.namespace || 'default' },
    involvedObject: regarding,
    type,
    reason,
    message: cutBytes(message, MESSAGE_MAX_BYTES),
    source: { component: state.component },
    reportingComponent: state.component,
    reportingInstance: state.instance,
    count: 1,
    firstTimestamp: timestamp,
    lastTimestamp: timestamp,
  }
}

/** @see events.k8s.io/v1, whose note holds 1 kB */
const MESSAGE_MAX_BYTES = 1024
/** Maximum length of an object's name, minus the dot and the 16 hexadecimal digits that follow it. @see DNS-1123 subdomain */
const NAME_STEM_MAX = 253 - 17
const NANOS_PER_MS = 1_000_000

/** Names events like client-go: object, dot, nanoseconds in hexadecimal. The digits below a millisecond keep names unique. */
function eventName(state: State, regardingName: string, atMs: number): string {
  const below = (state.nameSalt + state.recorded++) % NANOS_PER_MS
  const nanos = BigInt(Math.floor(atMs)) * BigInt(NANOS_PER_MS) + BigInt(below)
  return `${regardingName.slice(0, NAME_STEM_MAX).replace(/[.-]+$/, '')}.${nanos.toString(16)}`
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  return value
}

function cutBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  let cut = Buffer.from(text)
    .subarray(0, maxBytes - 3)
    .toString('utf8')
  while (cut.endsWith('\uFFFD')) cut = cut.slice(0, -1)
  return `${cut}…`
}
