import type { Clock } from '@tranche/clock'
import type { Exchange, WireRequest, WireResponse } from '@tranche/wire'
import { type Authenticate, createAuthenticator, createTokenReader, type OwnerOf, requireAllowed } from '../auth/access.ts'
import { escalationGuard } from '../auth/escalation.ts'
import { attributesOf } from './request-attributes.ts'
import type { Actor } from '../model/client.ts'
import { type ApiRequest, type ApiResult, ConnectionCutError, type WatchRequest, type WriteGuard } from '../model/request.ts'
import type { ResourceDefinition } from '../model/resource-definition.ts'
import { methodNotAllowed, noSuchResource } from '../model/errors.ts'
import type { ApiServer } from '../server.ts'
import { ApiStatusError } from '../model/status-error.ts'
import { createRandom, type Random, randomUuid } from '../model/random.ts'
import { type AnswerShape, createAnswerShape, type ManagedFieldsIn } from './answer-shape.ts'
import { serverVersion } from './documents/discovery.ts'
import { createDocuments, type Documents } from './documents/documents.ts'
import { commonHeaders, jsonAnswer, statusAnswer, textAnswer } from './wire/json-answer.ts'
import { negotiate } from './wire/negotiate.ts'
import { notServed } from './wire/not-served.ts'
import { prettied } from './wire/pretty.ts'
import { readIncludeObject } from './request-options.ts'
import { readResourceCall } from './resource-request.ts'
import { answerReview } from './reviews.ts'
import { parseRoute, type ResourceRoute, type Route } from './wire/route.ts'
import { createWatchStream, type WatchStream } from './wire/watch-stream.ts'

/** Dependencies of the front on the API server behind it. */
export type FrontApiServer = Pick<ApiServer, 'handle' | 'watch' | 'readDocument' | 'definitions' | 'findDefinition' | 'access'>

/** Settings of {@link createHttpFront}. */
export interface HttpFrontOptions {
  /**
   * Identities of bearer tokens, beside tokens of service accounts. A request with another token is rejected with 401; one without a token
   * is from `system:anonymous`. RBAC objects authorize each request; members of `system:masters` may do everything.
   */
  readonly tokens: Readonly<Record<string, Actor>>
  /** Clock for ages in tables and for the `Date` header. */
  readonly clock: Clock
}

/** Kubernetes HTTP API as values: no sockets, no timers. */
export interface HttpFront {
  /**
   * Handles one request. Rejects when a fault cuts the connection, and with the signal's reason once that aborts.
   *
   * @param managedFields responses with `metadata.managedFields`; @default all
   */
  readonly handle: (...request: [...Parameters<Exchange>, managedFields?: ManagedFieldsIn]) => ReturnType<Exchange>
  /** Ends all watches without an error. */
  endWatches(): void
}

/** Puts the Kubernetes HTTP API in front of an API server. */
export function createHttpFront(apiServer: FrontApiServer, options: HttpFrontOptions): HttpFront {
  const documents = createDocuments(() => apiServer.definitions())
  const ownerOf = createTokenReader(options.tokens)
  const authenticate = createAuthenticator(apiServer.access, ownerOf)
  const front: Front = { apiServer, ...options, documents, ownerOf, authenticate, watches: new Set(), audits: createRandom('audit') }
  return {
    handle: (wire, signal, managedFields = 'everything') => untilAborted(audited(front, { wire, signal, managedFields }), signal),
    endWatches() {
      for (const watch of front.watches) watch.end()
    },
  }
}

interface Front extends HttpFrontOptions {
  readonly apiServer: FrontApiServer
  readonly documents: Documents
  readonly ownerOf: OwnerOf
  readonly authenticate: Authenticate
  readonly watches: Set<WatchStream>
  /** Source of request ids. */
  readonly audits: Random
}

/** Raw request. */
interface Received {
  readonly wire: WireRequest
  readonly signal: AbortSignal
  readonly managedFields: ManagedFieldsIn
}

/** Request in progress: sender and target. */
interface Asked extends Received {
  readonly actor: Actor
  readonly query: URLSearchParams
}

/** Every response carries a request id (from the request, or generated) and the time of the server's clock. */
async function audited(front: Front, received: Received): Promise<WireResponse> {
  const id = received.wire.headers['audit-id'] ?? randomUuid(front.audits)
  const response = await answer(front, received)
  return { ...response, headers: { 'audit-id': id, date: new Date(front.clock.nowMs()).toUTCString(), ...response.headers } }
}

async function answer(front: Front, received: Received): Promise<WireResponse> {
  const { wire } = received
  const [path = '', search = ''] = splitOnce(wire.path, '?')
  const query = new URLSearchParams(search)
  try {
    const route = parseRoute(path, query)
    if (route.kind === 'resource' && route.isWatch) query.set('watch', 'true')
    const open = answerOpenRoute(route, wire.method)
    if (open !== undefined) return open
    const actor = senderOf(front, wire)
    requireAllowed(front.apiServer.access, actor, attributesOf({ method: wire.method, path, query, route }))
    return await prettied(await answerRoute(front, route, { ...received, actor, query }), wire, query)
  } catch (error) {
    if (error instanceof ConnectionCutError) throw error
    return prettied(statusAnswer(statusOf(error)), wire, query)
  }
}

function statusOf(error: unknown): ApiStatusError {
  if (error instanceof ApiStatusError) return error
  const reason = error instanceof Error ? error.message : String(error)
  if (isTooDeep(error)) return new ApiStatusError(400, 'BadRequest', 'the object is nested too deeply')
  return new ApiStatusError(500, 'InternalError', `Internal error occurred: ${reason}`)
}

/** A patch of nested copies may exceed the depth limit of bodies; walking the result then overflows the stack. */
function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack')
}

/** Health and version need no authentication, as in a cluster. */
function answerOpenRoute(route: Route, method: string): WireResponse | undefined {
  if (method !== 'GET') return undefined
  if (route.kind === 'version') return jsonAnswer(200, JSON.stringify(serverVersion, null, 2))
  if (route.kind !== 'health') return undefined
  return textAnswer(200, route.verbose && route.part === undefined ? `[+]ping ok\n${route.check} check passed\n` : 'ok')
}

/** @throws {ApiStatusError} 401 for an unknown token, 403 for an impersonation that is not allowed */
function senderOf({ authenticate }: Front, { headers }: WireRequest): Actor {
  const actor = authenticate(headers)
  const userAgent = headers['user-agent']
  return userAgent === undefined ? actor : { ...actor, userAgent }
}

async function answerRoute(front: Front, route: Route, asked: Asked): Promise<WireResponse> {
  if (route.kind === 'resource') return answerResource(front, route, asked)
  const answer = await front.apiServer.readDocument(asked.actor, () => front.documents(route, asked.wire))
  if (answer !== undefined && asked.wire.method !== 'GET') throw methodNotAllowed()
  return answer ?? notFound()
}

async function answerResource(front: Front, route: ResourceRoute, asked: Asked): Promise<WireResponse> {
  const review = answerReviewOf(front, route, asked)
  if (review !== undefined) return jsonAnswer(201, JSON.stringify(review))
  const definition = definitionFor(route, front.apiServer)
  if (definition === undefined) return answerNotServed(route)
  const shape = negotiateShape(front, definition, route, asked)
  const call = readResourceCall({ ...asked, route, definition })
  if (call.kind === 'watch') return answerWatch(front, call.request, shape, asked.signal)
  const guard = guardOf(front, call.request)
  const result = await front.apiServer.handle(guard === undefined ? call.request : { ...call.request, guard })
  return jsonAnswer(result.code, resultText(result, shape), [...call.warnings, ...result.warnings])
}

/** Applying a missing object creates it, which needs the create permission. */
function guardOf({ apiServer: { access } }: Front, { actor, resource, patchType, namespace, name }: ApiRequest): WriteGuard | undefined {
  const escalation = escalationGuard(access, actor, resource)
  if (patchType !== 'apply-patch') return escalation
  return (object, old) => {
    if (old === undefined) requireAllowed(access, actor, { kind: 'resource', verb: 'create', ...resource, namespace, name })
    escalation?.(object, old)
  }
}

function answerNotServed(route: ResourceRoute): WireResponse {
  return statusAnswer(notServed(route) ?? noSuchResource())
}

function answerReviewOf({ apiServer, clock, ownerOf }: Front, route: ResourceRoute, { actor, wire }: Asked): object | undefined {
  const contentType = wire.headers['content-type'] ?? 'application/json'
  const { method, body } = wire
  return answerReview({ access: apiServer.access, ownerOf, actor, route, method, body, contentType, nowMs: () => clock.nowMs() })
}

function definitionFor(route: ResourceRoute, apiServer: FrontApiServer): ResourceDefinition | undefined {
  const definition = apiServer.findDefinition({ group: route.group, resource: route.resource })
  if (definition === undefined || !definition.versions.includes(route.version)) return undefined
  if (!definition.namespaced && route.namespace !== undefined) return undefined
  if (definition.namespaced && route.name !== undefined && route.namespace === undefined) return undefined
  return route.subresource === undefined || definition.subresources.includes(route.subresource) ? definition : undefined
}

/** @throws {ApiStatusError} 406 when the client accepts none of our media types */
function negotiateShape(front: Front, definition: ResourceDefinition, route: ResourceRoute, asked: Asked): AnswerShape {
  const { wire, query } = asked
  const managedFields = asked.managedFields === 'single reads' && wire.method !== 'GET' ? 'nothing' : asked.managedFields

  const representation = negotiate(wire.headers['accept'])
  if (representation === undefined)
    throw new ApiStatusError(406, 'NotAcceptable', 'only the following media types are accepted: application/json')
  const include = readIncludeObject(query.get('includeObject') ?? '')
  return createAnswerShape(representation, { definition, version: route.version, include, managedFields, nowMs: () => front.clock.nowMs() })
}

function resultText(result: ApiResult, shape: AnswerShape): string {
  switch (result.kind) {
    case 'object':
      return shape.object(result.object)
    case 'list':
      return shape.list(result.list)
    case 'status':
      return JSON.stringify(result.status)
  }
}

async function answerWatch(front: Front, request: WatchRequest, shape: AnswerShape, signal: AbortSignal): Promise<WireResponse> {
  const onAbort = (): void => stream.end(signal.reason as Error)
  const stream = createWatchStream(shape.frame)
  const watching = await front.apiServer.watch(request, stream.sink)
  front.watches.add(stream)
  signal.addEventListener('abort', onAbort, { once: true })
  stream.onEnd(() => {
    front.watches.delete(stream)
    signal.removeEventListener('abort', onAbort)
    watching.stop()
  })
  if (signal.aborted) onAbort()
  return { status: 200, headers: { ...commonHeaders, 'content-type': 'application/json' }, body: stream.chunks }
}

function notFound(): WireResponse {
  return textAnswer(404, '404 page not found\n')
}

/** The server completes a request after its sender disconnects; the response is dropped. */
function untilAborted(answering: Promise<WireResponse>, signal: AbortSignal): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    answering.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
