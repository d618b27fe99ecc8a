import { lastEventHeadersSchema, problemSchema, streamMessageSchema, type StreamQuery, streamQuerySchema } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf } from '../http/guard.ts'
import { type ObjectKey, parseKey } from '@tranche/kube-types'
import type { ApiServer } from '../http/create-server.ts'
import { notSeenYet } from '../http/problems.ts'
import { clientGroupOf } from '../limits/client-group.ts'
import { createSharedQuota } from '@tranche/connections'
import type { Sessions } from '../login/sessions.ts'
import type { NodeFeeds } from '../stream/node-feeds.ts'
import { fromEventId, type Known } from '../stream/positions.ts'
import { openStreamConnection, type StreamConnection, type StreamConnectionParts } from '../stream/stream-connection.ts'
import type { StreamHub, StreamSource } from '../stream/stream-hub.ts'
import { createStreamedConnections } from '../stream/streamed-connections.ts'
import { checkScope, readStreamRights, type StreamScope } from '../stream/stream-rights.ts'
import { type RouteParts, tags } from './route-parts.ts'

/** What all streams share. */
export interface Streams {
  readonly hub: StreamHub
  readonly source: StreamSource
  readonly feeds: NodeFeeds
}

/** Dependencies of the stream route. */
export interface StreamParts extends Pick<RouteParts, 'reviews' | 'limits' | 'reads'>, Pick<StreamConnectionParts, 'onStream'> {
  /** Undefined until the initial lists have arrived. */
  readonly stream: () => Streams | undefined
  readonly clock: Clock
  /** Undefined if browser login is off. */
  readonly sessions?: Sessions | undefined
}

/** Maximum time to wait until this replica has caught up with the reader's `Last-Event-ID`, in milliseconds; then the stream is reset. */
const CATCH_UP_MS = 2_000

/** Description of the route, and its schemas. */
const schema = {
  tags: tags.stream,
  operationId: 'stream',
  summary: 'Stream changes as server-sent events',
  description:
    'Each `data:` is one `StreamMessage`. Without `Last-Event-ID` the stream begins with a `reset` and every Rollout that the caller may ' +
    'list. With it, any replica resumes with the changes since that event; if the rights of the caller have changed, the stream begins ' +
    'with a `reset`. Clients that do not read are disconnected and can resume. With `nodes`, the nodes of one Rollout follow. The ' +
    'first message has `reset` and every node, in several parts if there are many. Later ones have the nodes that have changed, at most ' +
    'once a second. Each request starts with every node, also with `Last-Event-ID`. The id does not depend on `nodes`: a client resumes ' +
    'with the nodes of another Rollout.',
  querystring: streamQuerySchema,
  headers: lastEventHeadersSchema,
  produces: ['text/event-stream'],
  response: { 200: streamMessageSchema, default: problemSchema },
} as const

/** Adds the route that streams changes as server-sent events. */
export function addStreamRoute(app: ApiServer, parts: StreamParts): void {
  const connections = new Set<StreamConnection>()
  const streamed = createStreamedConnections(app.server)
  const { streams, streamsOfCaller } = parts.limits
  // Streams that are being opened count at once; otherwise many simultaneous requests would exceed the limit.
  const quota = createSharedQuota({ each: streamsOfCaller, total: streams })
  app.addHook('preClose', async () => {
    for (const connection of connections) connection.end('end')
  })

  /** A client without the right to what it asks for takes no place. */
  async function takePlace(request: FastifyRequest): Promise<() => void> {
    const caller = callerOf(request)
    await checkScope(parts.reviews, caller, scopeOf(request))
    const { key, text } = clientGroupOf(caller.username)
    const leave = quota.take(key, 1)
    if (leave === 'total') throw tooManyStreams(streams)
    if (leave === 'caller') throw quotaExceeded(text, streamsOfCaller)
    return leave
  }

  app.get(
    '/api/v1/stream',
    {
      // A HEAD request would open a stream that sends nothing and never ends.
      exposeHeadRoute: false,
      config: { access: { kind: 'filtered' } },
      schema,
    },
    async (request, reply) => {
      const stream = parts.stream()
      if (stream === undefined) throw notSeenYet()
      const { namespace, name } = request.query
      if (name !== undefined && namespace === undefined) throw nameAlone()
      const leave = await takePlace(request as FastifyRequest)
      try {
        const connection = await openStream(parts, stream, request as FastifyRequest, reply as FastifyReply)
        connections.add(connection)
        streamed.add(request.raw)
        void connection.closed.then(() => {
          connections.delete(connection)
          streamed.delete(request.raw)
          leave()
        })
      } catch (error) {
        leave()
        throw error
      }
      return reply
    },
  )
}

type OpenStream = NonNullable<ReturnType<StreamParts['stream']>>

/** Resumes where the reader left off, if its rights are still the same. */
async function openStream(parts: StreamParts, stream: OpenStream, request: FastifyRequest, reply: FastifyReply): Promise<StreamConnection> {
  const { lastEventId } = request.query as StreamQuery
  const scope = scopeOf(request)
  const { nodes } = scope
  const header = request.headers['last-event-id']
  const stood = await reached(stream.source, typeof header === 'string' ? header : lastEventId, parts.clock)
  const reading = { ...parts, unboundWorkload: (key: ObjectKey) => parts.reads.unboundWorkload(key) }
  const rights = await readStreamRights(reading, sessionOf(request, parts), { scope, namespaces: stream.hub.namespaces() })
  // If the rights have changed since then, the reader misses Rollouts that it may see now, or keeps Rollouts that it may not.
  const known = stood?.digest === rights.digest ? stood.positions : null
  return openStreamConnection({ ...parts, ...stream, rights, known, reply, nodes: nodes && { key: nodes, feeds: stream.feeds } })
}

function scopeOf({ query }: FastifyRequest): StreamScope {
  const { namespace, name, nodes } = query as StreamQuery
  return { namespace, name, nodes: nodes === undefined ? undefined : parseKey(nodes) }
}

function nameAlone(): AppError {
  return new AppError('REQUEST_INVALID', 'query.name is set without query.namespace', { hint: 'Also set query.namespace.' })
}

function tooManyStreams(streams: number): AppError {
  return new AppError('NOT_READY', `the limit of ${streams} streams is reached; the last quarter of them is for clients without a stream`, {
    hint: 'Close some, or use another replica.',
  })
}

function quotaExceeded(who: string, streams: number): AppError {
  return new AppError('RATE_LIMITED', `${streams} streams of ${who} are open, which is the limit`, {
    hint: 'Close some; one stream without a query covers every Rollout.',
  })
}

function sessionOf(request: FastifyRequest, { reviews, sessions }: StreamParts): Parameters<typeof readStreamRights>[1] {
  const caller = callerOf(request)
  const { token, loginSession } = request
  if (loginSession !== null) return { caller, callerNow: async () => (sessions?.counts(loginSession) === true ? caller : null) }
  return { caller, callerNow: () => reviews.authenticate(token) }
}

/** @returns the reader's positions once this replica has reached them; null after {@link CATCH_UP_MS}, or if the id is not valid */
async function reached(source: StreamSource, id: string | undefined, clock: Clock): Promise<Known | null> {
  const known = id === undefined ? null : fromEventId(id, source.positions().length)
  if (known === null) return null
  const late = new AbortController()
  const timer = clock.setTimer(CATCH_UP_MS, () => late.abort(new Error('this replica is behind the reader')))
  try {
    await source.whenReached(known.positions, late.signal)
    return known
  } catch {
    return null
  } finally {
    timer.cancel()
  }
}
