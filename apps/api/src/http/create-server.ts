import type { Certificate } from '@tranche/certificates'
import { limitConnections } from '@tranche/connections'
import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import { serializerCompiler, validatorCompiler } from '@fastify/type-provider-zod'
import underPressure from '@fastify/under-pressure'
import type { Frozen } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { Clock } from '@tranche/clock'
import type { Logger } from '@tranche/log'
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
import { type GuardedRoute, type GuardParts, guardRoutes } from '../auth/guard.ts'
import type { z } from 'zod'
import { createFairQueue } from './fair-queue.ts'
import type { Limits } from './limits.ts'
import { addressOf } from './address-of.ts'
import { createLineLimit } from './line-limit.ts'
import { limitBodies } from './limit-bodies.ts'
import { answerBadHttp, answerOddHttp } from './bad-http.ts'
import { limitTime } from './request-time.ts'
import { notSeenYet, problemOf, sendProblem, toProblem } from './problems.ts'

/** Tells what schemas in Zod let in, and what they let out: our values are read-only. */
interface SchemaTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown
  readonly serializer: this['schema'] extends z.ZodType ? Frozen<z.output<this['schema']>> : unknown
}

/** The server as routes see it: schemas are Zod's. */
export type ApiServer = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, SchemaTypes>

/** What a server is made with. */
export interface ServerParts {
  readonly reviews: GuardParts['reviews']
  /** Sessions of browsers; undefined where there are none. */
  readonly sessions?: GuardParts['sessions']
  readonly clock: Clock
  readonly log: Logger
  readonly limits: Limits
  /** Origins of pages that may read answers; none by default. */
  readonly corsOrigins: readonly string[]
  /** Addresses of proxies whose `X-Forwarded-For` is believed. */
  readonly trustProxies: readonly string[]
  /** Whether the first lists of the cluster have arrived: routes that tell of it wait for nobody, and say so. */
  readonly isSynced: () => boolean
  /** What it proves itself with; without one it speaks plain HTTP. */
  readonly certificate?: Certificate | undefined
  /** Whether answers are held against their schemas, field by field: for tests. Else they are written as they are. */
  readonly checkAnswers: boolean
}

/**
 * Builds a server without routes: everything that holds for all of them.
 *
 * @param pluginAccess who may use the routes that a plugin registers below a path
 */
export async function createServer(parts: ServerParts, pluginAccess: Readonly<Record<string, Access>>): Promise<ApiServer> {
  const { clock, limits } = parts
  const app = Fastify({
    loggerInstance: undefined as never,
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    // Plugins load files of this package alone. A machine with other work may take its time over them, as a simulated cluster beside it does.
    pluginTimeout: 0,
    trustProxy: parts.trustProxies.length > 0 ? [...parts.trustProxies] : false,
    // Streams end in `preClose`; whatever else is idle then need not be waited for.
    forceCloseConnections: 'idle',
    requestIdHeader: false,
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    frameworkErrors: (error, request, reply) => void sendProblem(reply as FastifyReply, toProblem(error, request.id)),
    clientErrorHandler: answerBadHttp,
    ...transportOf(parts.certificate),
    routerOptions: { maxParamLength: 253, ignoreTrailingSlash: true },
  }).withTypeProvider<SchemaTypes>() as unknown as ApiServer
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(parts.checkAnswers ? (serializerCompiler as FastifySerializerCompiler<unknown>) : () => JSON.stringify)
  const { connections, connectionsOfAddress } = limits
  const idle = limitConnections(app.server, { connections, connectionsOfAddress, addressOf: (ip) => addressOf({ ip }) })
  limitTime(app as unknown as FastifyInstance, { clock, requestMs: limits.requestMs })
  answerOddHttp(app)
  answerProblems(app, parts)
  await app.register(helmet, helmetOptions)
  if (parts.corsOrigins.length > 0)
    await app.register(cors, { origin: [...parts.corsOrigins], exposedHeaders: ['x-request-id', 'retry-after'] })
  // An interval without a single turn of the loop counts as endlessly late, so it must not be shorter than what is borne.
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
  app.addHook('onRequest', async (request, reply) => {
    if (request.caller !== undefined) idle.release(request.raw)
    void reply.header('x-request-id', request.id).header('cache-control', 'no-store')
  })
  app.addHook('onResponse', async (request) => idle.restore(request.raw))
  app.addHook('preHandler', async (request) => {
    const { access } = request.routeOptions.config
    if (access?.kind === 'signed') idle.release(request.raw)
    // Actions are judged by a fresh read.
    if (request.method === 'POST') return
    if ((access?.kind === 'filtered' || access?.kind === 'resource') && !parts.isSynced()) throw notSeenYet()
  })
  return app
}

/** A request without a host is refused by us, as a problem. The types of a server do not tell the two apart. */
/** The longest time for the headers of a request, in milliseconds: whoever sends them knows them all. */
const HEADERS_MS = 5_000
/** Slow connections are looked for this often, in milliseconds; Node.js itself does so every 30 s. */
const CHECK_MS = 1_000
/** The longest TLS handshake, in milliseconds; Node.js itself waits for 120 s. */
const HANDSHAKE_MS = 5_000

function transportOf(certificate: Certificate | undefined): { readonly http: { readonly requireHostHeader: false } } {
  const common = { requireHostHeader: false, headersTimeout: HEADERS_MS, connectionsCheckingInterval: CHECK_MS } as const
  if (certificate === undefined) return { http: common }
  return { https: { ...certificate, ...common, handshakeTimeout: HANDSHAKE_MS } } as never
}

/** Scripts and styles of our own pages alone; nothing may be framed. The server may speak plain HTTP behind a proxy. */
const helmetOptions = {
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: null, frameAncestors: ["'none'"] } },
  strictTransportSecurity: false,
} as const

/** Ids of senders are believed where they can do no harm in a log. */
function requestId(sent: string | readonly string[] | undefined): string {
  return typeof sent === 'string' && /^[\w.-]{1,64}$/.test(sent) ? sent : randomUUID()
}

/** Whoever asks whether we are ready may be told that we are not, and what is too much for now passes by itself. */
function levelOf(code: string, route: string | undefined): 'debug' | 'warn' | 'error' {
  if (code !== 'NOT_READY') return 'error'
  return route === '/readyz' ? 'debug' : 'warn'
}

/** HTTP status of what passes by itself, of the process or of what it asks. */
const UNAVAILABLE = 503

function answerProblems(app: ApiServer, { clock, log }: { readonly clock: Clock; readonly log: Logger }): void {
  const lines = createLineLimit(clock)
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error, request.id)
    const route = request.routeOptions.url
    // An outage fails every request alike: a few lines say so.
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
    if (allowed.length === 0) {
      const detail = `There is no route ${method} ${path}; /docs has those that there are.`
      return sendProblem(reply as FastifyReply, problemOf('NOT_FOUND', detail, { instance }))
    }
    void reply.header('allow', allowed.join(', '))
    const detail = `${path} takes ${allowed.join(', ')}, not ${method}.`
    return sendProblem(reply as FastifyReply, problemOf('REQUEST_INVALID', detail, { instance, status: 405 }))
  })
}

/** @returns the methods that some route takes at a path */
function methodsOf(routes: readonly GuardedRoute[], path: string): readonly string[] {
  const isAt = (url: string): boolean => new RegExp(`^${url.replace(/:\w+/g, '[^/]+').replace('*', '.*')}/?$`).test(path)
  return [...new Set(routes.filter(({ url }) => isAt(url)).map(({ method }) => method))].sort()
}

/** Tokens of strangers that the API server is asked about at a time: a quarter of what we ask it at a time. */
const REVIEWS_AT_ONCE = 8

/** Counts by token, or by address where the token is no good, or there is none. */
async function createSenderLimit(app: ApiServer, { requestsPerSecond }: Limits): Promise<GuardParts['limitSender']> {
  const senders = new WeakMap<FastifyRequest, string>()
  await app.register(rateLimit, { global: false })
  const check = app.createRateLimit({
    max: requestsPerSecond,
    timeWindow: 1_000,
    keyGenerator: (request) => senders.get(request as FastifyRequest) ?? addressOf(request),
  })
  return async (request, reply, sender) => {
    senders.set(request, sender ?? addressOf(request))
    const limit = await check(request as never)
    if (limit.isAllowed || !limit.isExceeded) return
    void reply.header('retry-after', String(Math.max(1, limit.ttlInSeconds)))
    throw new AppError('RATE_LIMITED', `more than ${requestsPerSecond} requests in a second`, {
      hint: 'Wait, or read /api/v1/stream instead of asking again.',
    })
  }
}
