import type { Certificate } from '@tranche/certificates'
import { limitConnections } from '@tranche/connections'
import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import { serializerCompiler } from '@fastify/type-provider-zod'
import underPressure from '@fastify/under-pressure'
import type { Frozen } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { Clock } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySerializerCompiler,
  type FastifyTypeProvider,
  type RawServerDefault,
} from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Access } from '../auth/access.ts'
import { type GuardedRoute, type GuardParts, guardRoutes } from './guard.ts'
import type { z } from 'zod'
import { createFairQueue } from '../limits/fair-queue.ts'
import type { Limits } from '../limits/limits.ts'
import { addressOf } from '../limits/address-of.ts'
import { createLineLimit } from '../limits/line-limit.ts'
import { limitBodies } from './limit-bodies.ts'
import { refuseDeepBodies } from './refuse-deep-bodies.ts'
import { answerBadHttp, answerOddHttp } from './bad-http.ts'
import { compileValidator } from './compile-validator.ts'
import { limitTime } from './request-time.ts'
import { notSeenYet, problemDetailsOf, sendProblem, toProblem } from './problems.ts'

/** Infers request and response types from Zod schemas; responses may be read-only. */
interface SchemaTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown
  readonly serializer: this['schema'] extends z.ZodType ? Frozen<z.output<this['schema']>> : unknown
}

/** Fastify server with Zod schemas. */
export type ApiServer = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, SchemaTypes>

/** Dependencies of {@link createServer}. */
export interface ServerParts {
  readonly reviews: GuardParts['reviews']
  /** Undefined if browser login is off. */
  readonly sessions?: GuardParts['sessions']
  readonly clock: Clock
  readonly log: Logger
  readonly limits: Limits
  /** Origins allowed by CORS; empty: none. */
  readonly corsOrigins: readonly string[]
  /** Addresses or CIDR ranges of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxies: readonly string[]
  /** True once the initial lists have arrived; until then reads answer 503 without waiting. */
  readonly isSynced: () => boolean
  /** TLS certificate; undefined: plain HTTP. */
  readonly certificate?: Certificate | undefined
  /** Whether answers are validated against their schemas, for tests. */
  readonly checkAnswers: boolean
}

/**
 * Builds a server without routes: limits, authentication, error handling and headers.
 *
 * @param pluginAccess access rules of the routes that plugins register, by path prefix
 */
export async function createServer(parts: ServerParts, pluginAccess: Readonly<Record<string, Access>>): Promise<ApiServer> {
  const { clock, limits } = parts
  const app = Fastify({
    loggerInstance: undefined as never,
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    // Plugins only load files of this package, which can take long on a busy machine, such as one with a simulated cluster.
    pluginTimeout: 0,
    trustProxy: parts.trustProxies.length > 0 ? [...parts.trustProxies] : false,
    // Streams end in `preClose`; other idle connections need no wait.
    forceCloseConnections: 'idle',
    requestIdHeader: false,
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    frameworkErrors: (error, request, reply) => void sendProblem(reply as FastifyReply, toProblem(error, request.id)),
    clientErrorHandler: answerBadHttp,
    ...transportOf(parts.certificate),
    routerOptions: { maxParamLength: 253, ignoreTrailingSlash: true },
  }).withTypeProvider<SchemaTypes>() as unknown as ApiServer
  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(parts.checkAnswers ? (serializerCompiler as FastifySerializerCompiler<unknown>) : () => JSON.stringify)
  const { connections, connectionsOfAddress } = limits
  const idle = limitConnections(app.server, { connections, connectionsOfAddress, addressOf: (ip) => addressOf({ ip }) })
  limitTime(app as unknown as FastifyInstance, { clock, requestMs: limits.requestMs })
  answerOddHttp(app)
  answerProblems(app, parts)
  await app.register(helmet, helmetOptions)
  if (parts.corsOrigins.length > 0)
    await app.register(cors, { origin: [...parts.corsOrigins], exposedHeaders: ['x-request-id', 'retry-after'] })
  // An interval without any event loop iteration counts as infinite delay, so it must not be shorter than the tolerated delay.
  const lateMs = limits.loopLateMs
  await app.register(underPressure, { maxEventLoopDelay: lateMs, sampleInterval: lateMs, exposeStatusRoute: false })
  guardRoutes(app as unknown as FastifyInstance, {
    reviews: parts.reviews,
    sessions: parts.sessions,
    limitSender: await createSenderLimit(app, limits),
    unauthenticated: createFairQueue({
      clock,
      atOnce: REVIEWS_AT_ONCE,
      slotsPerAddress: limits.unauthenticatedPerAddress,
      slots: limits.connections,
      failuresPerSecond: limits.guessesPerSecond,
    }),
    pluginAccess,
  })
  limitBodies(app as unknown as FastifyInstance, limits)
  refuseDeepBodies(app as unknown as FastifyInstance)
  app.addHook('onRequest', async (request, reply) => {
    if (request.caller !== undefined) idle.release(request.raw)
    void reply.header('x-request-id', request.id).header('cache-control', 'no-store')
  })
  app.addHook('onResponse', async (request) => idle.restore(request.raw))
  app.addHook('preHandler', async (request) => {
    const { access } = request.routeOptions.config
    if (access?.kind === 'signed') idle.release(request.raw)
    // Actions do not need the cache: they are validated against a fresh read.
    if (request.method === 'POST') return
    if ((access?.kind === 'filtered' || access?.kind === 'resource') && !parts.isSynced()) throw notSeenYet()
  })
  return app
}

/** A request without a host is refused by us, as a problem. The types of a server do not distinguish the two. */
/** Maximum time for receiving the headers of a request, in milliseconds. */
const HEADERS_MS = 5_000
/** Interval of the check for slow connections, in milliseconds; the default of Node.js is 30 s. */
const CHECK_MS = 1_000
/** Maximum duration of a TLS handshake, in milliseconds; the default of Node.js is 120 s. */
const HANDSHAKE_MS = 5_000

function transportOf(certificate: Certificate | undefined): { readonly http: { readonly requireHostHeader: false } } {
  const common = { requireHostHeader: false, headersTimeout: HEADERS_MS, connectionsCheckingInterval: CHECK_MS } as const
  if (certificate === undefined) return { http: common }
  return { https: { ...certificate, ...common, handshakeTimeout: HANDSHAKE_MS } } as never
}

/** Allows only scripts and styles of our own pages, and no framing. Allows plain HTTP, for a server behind a proxy. */
const helmetOptions = {
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: null, frameAncestors: ["'none'"] } },
  xFrameOptions: { action: 'deny' },
  strictTransportSecurity: false,
} as const

/** @returns the `x-request-id` of the client if it is safe in a log; else a random id */
function requestId(sent: string | readonly string[] | undefined): string {
  return typeof sent === 'string' && /^[\w.-]{1,64}$/.test(sent) ? sent : randomUUID()
}

/** @returns log level of a failed request: a failing readiness probe is expected, and overload ends by itself */
function levelOf(code: string, route: string | undefined): 'debug' | 'warn' | 'error' {
  if (code !== 'NOT_READY') return 'error'
  return route === '/readyz' ? 'debug' : 'warn'
}

/** HTTP status of temporary failures. */
const UNAVAILABLE = 503

function answerProblems(app: ApiServer, { clock, log }: { readonly clock: Clock; readonly log: Logger }): void {
  const lines = createLineLimit(clock)
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error, request.id)
    const route = request.routeOptions.url
    // An outage fails every request with the same code: the line limit keeps a few lines.
    const leftOut = problem.status === UNAVAILABLE ? lines.take(`${route}: ${problem.code}`) : 0
    if (problem.status >= 500 && leftOut !== null) {
      const fields = { requestId: request.id, route, code: problem.code, err: error, leftOut }
      log[levelOf(problem.code, route)](fields, 'failed')
    }
    return sendProblem(reply as FastifyReply, problem)
  })
  app.setNotFoundHandler((request, reply) => {
    const { method, id: instance } = request
    const [path = ''] = request.url.split('?', 1)
    const allowed = methodsOf(app.guardedRoutes, path)
    if (allowed.length === 0 || allowed.includes(method)) {
      const detail = `There is no route ${method} ${path}; see /docs for all routes.`
      return sendProblem(reply as FastifyReply, problemDetailsOf('NOT_FOUND', detail, { instance }))
    }
    void reply.header('allow', allowed.join(', '))
    const detail = `${path} supports ${allowed.join(', ')}, not ${method}.`
    return sendProblem(reply as FastifyReply, problemDetailsOf('REQUEST_INVALID', detail, { instance, status: 405 }))
  })
}

/** @returns the methods supported at a path, sorted */
function methodsOf(routes: readonly GuardedRoute[], path: string): readonly string[] {
  const isAt = (url: string): boolean => new RegExp(`^${url.replace(/:\w+/g, '[^/]+').replace('*', '.*')}/?$`).test(path)
  return [...new Set(routes.filter(({ url }) => isAt(url)).map(({ method }) => method))].sort()
}

/** Maximum number of concurrent reviews of unknown tokens: a quarter of all concurrent requests to the API server. */
const REVIEWS_AT_ONCE = 8

/** Rate limit per client, with any number of tokens; per address if the token is invalid or missing. */
async function createSenderLimit(app: ApiServer, { requestsPerSecond }: Limits): Promise<GuardParts['limitSender']> {
  const senders = new WeakMap<FastifyRequest, string>()
  await app.register(rateLimit, { global: false })
  const check = app.createRateLimit({
    max: requestsPerSecond,
    timeWindow: 1_000,
    keyGenerator: (request) => senders.get(request as FastifyRequest) ?? addressOf(request),
  })
  return async (request, reply, sender) => {
    senders.set(request, sender?.key ?? addressOf(request))
    const limit = await check(request as never)
    if (limit.isAllowed || !limit.isExceeded) return
    void reply.header('retry-after', String(Math.max(1, limit.ttlInSeconds)))
    throw new AppError('RATE_LIMITED', `more than ${requestsPerSecond} requests in a second from ${sender?.text ?? 'this address'}`, {
      hint: 'Wait, or read /api/v1/stream instead of polling.',
    })
  }
}
