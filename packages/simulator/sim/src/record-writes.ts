import type { Clock } from '@tranche/clock'
import type { RecordedDelivery, RecordedWrite } from '@tranche/recording'
import type { AcceptedWrite, ApiRequest, ApiServer, Delivery } from '@tranche/sim-api'
import { nodeOf, project } from './project.ts'

/** What to record in addition to writes. */
export interface RecordOptions {
  /** Actors whose lists, events and bookmarks are recorded as deliveries. @default none */
  readonly deliveriesTo?: (actor: string) => boolean
}

/**
 * Records every accepted write, as one JSON object per line: `{t, type, kind, rv, o, actor, verb, resource, uid, node, namespace, sent,
 * preconditions, basedOn}`. `t` is the clock's wall time in epoch milliseconds, and `type` the watch event of the write. `rv` is the
 * resource version as a number, `o` the object as {@link project} keeps it, and `node` the node concerned, if any. Deliveries are
 * `{t, to, of, rv}`.
 *
 * @param record called with each line, without its line end, in order of occurrence
 * @returns function that ends the recording
 */
export function recordWrites(server: ApiServer, clock: Clock, record: (line: string) => void, options?: RecordOptions): () => void {
  return recordEntries(server, clock, (entry) => record(JSON.stringify(entry)), options)
}

/** Records like {@link recordWrites}, as values. @param take called with each value, which never changes afterwards */
export function recordEntries(
  server: ApiServer,
  clock: Clock,
  take: (entry: RecordedWrite | RecordedDelivery) => void,
  { deliveriesTo = () => false }: RecordOptions = {},
): () => void {
  const stopWrites = server.observe((write) => take(toWrite(write, clock)))
  const stopDeliveries = server.observeDeliveries((delivery) => {
    if (deliveriesTo(delivery.actor.name)) take(toDelivery(delivery, clock))
  })
  return () => {
    stopWrites()
    stopDeliveries()
  }
}

function toDelivery({ actor, resource, revision }: Delivery, clock: Clock): RecordedDelivery {
  return { t: recordedMs(clock.nowMs()), to: actor.name, of: resource.resource, rv: revision }
}

function toWrite({ type, kind, object, actor, verb, resource, request }: AcceptedWrite, clock: Clock): RecordedWrite {
  const waitedMs = clock.monotonicMs() - (request?.receivedMs ?? clock.monotonicMs())
  const node = nodeOf(object)
  const { namespace, resourceVersion, uid } = object.metadata
  return {
    t: recordedMs(clock.nowMs()),
    type,
    kind,
    rv: Number(resourceVersion),
    o: project(object),
    actor: actor.name,
    verb,
    resource: [resource.resource, request?.subresource].filter(Boolean).join('/'),
    uid,
    ...(node !== undefined && { node }),
    ...(namespace !== undefined && { namespace }),
    ...(waitedMs > 0 && { sent: recordedMs(clock.nowMs() - waitedMs) }),
    ...conditionsOf(request),
  }
}

/** Rounded to a thousandth, because further digits are noise. */
function recordedMs(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

/** Preconditions of the request. */
function conditionsOf(request: ApiRequest | undefined): Pick<RecordedWrite, 'preconditions' | 'basedOn'> {
  if (request === undefined || typeof request.body !== 'object' || request.body === null) return {}
  if (request.verb === 'delete') {
    const { preconditions } = request.body as Pick<RecordedWrite, 'preconditions'>
    return preconditions === undefined ? {} : { preconditions }
  }
  const version = testedVersion(request.body)
  return version === undefined ? {} : { basedOn: Number(version) }
}

function testedVersion(body: object): unknown {
  if (!Array.isArray(body)) return (body as { readonly metadata?: { readonly resourceVersion?: unknown } }).metadata?.resourceVersion
  const operations = body as readonly { readonly op?: string; readonly path?: string; readonly value?: unknown }[]
  return operations.find(({ op, path }) => op === 'test' && path === '/metadata/resourceVersion')?.value
}
