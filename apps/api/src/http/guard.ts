import { AppError } from '@tranche/errors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Access, questionOf, questionText } from '../auth/access.ts'
import type { Session, Sessions } from '../login/sessions.ts'
import type { Caller } from '../auth/caller.ts'
import { addressOf } from '../limits/address-of.ts'
import { type ClientGroup, clientGroupOf } from '../limits/client-group.ts'
import type { FairQueue } from '../limits/fair-queue.ts'
import type { RememberedReviews, TokenStanding } from '../auth/remembered-reviews.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Access rule of the route. */
    access?: Access
  }
  interface FastifyRequest {
    /** Identity of the client; undefined only on public and signed routes. */
    caller: Caller | undefined
    /** Bearer token that authenticated `caller`; empty if there is none. */
    token: string
    /** Browser session that authenticated `caller`; null if there is none. */
    loginSession: Session | null
  }
  interface FastifyInstance {
    /** Every registered route with its access rule. */
    guardedRoutes: readonly GuardedRoute[]
  }
}

/** A registered route with its access rule. */
export interface GuardedRoute {
  readonly method: string
  /** With the names of its parameters: `/api/v1/rollouts/:name`. */
  readonly url: string
  readonly access: Access
}

/** Dependencies of {@link guardRoutes}. */
export interface GuardParts {
  readonly reviews: RememberedReviews
  /** Browser sessions, for requests without a bearer token; undefined if browser login is off. */
  readonly sessions?: Sessions | undefined
  /** Counts a request for its client, or for its address if `sender` is null. @throws {AppError} RATE_LIMITED */
  readonly limitSender: (request: FastifyRequest, reply: FastifyReply, sender: ClientGroup | null) => Promise<void>
  /** Queue of requests with a token that has not been reviewed yet, so that guessed tokens cannot block valid ones. */
  readonly unauthenticated: FairQueue
  /** Access rules of the routes that plugins register, by path prefix. */
  readonly pluginAccess: Readonly<Record<string, Access>>
}

/**
 * Authenticates and authorizes every request before its body is read. A route without an access rule fails when the server starts.
 *
 * @throws {AppError} (each request) TOKEN_INVALID, CSRF_REFUSED, ACCESS_DENIED, REVIEW_UNAVAILABLE, RATE_LIMITED
 */
export function guardRoutes(app: FastifyInstance, { reviews, sessions, limitSender, unauthenticated, pluginAccess }: GuardParts): void {
  const routes: GuardedRoute[] = []
  app.decorate('guardedRoutes', routes)
  app.decorateRequest('caller', undefined)
  app.decorateRequest('token', '')
  app.decorateRequest('loginSession', null)
  app.addHook('onRoute', (route) => {
    const access = route.config?.access ?? Object.entries(pluginAccess).find(([path]) => isBelow(route.url, path))?.[1]
    if (access === undefined) throw new Error(`the route ${String(route.method)} ${route.url} has no access rule`)
    route.config = { ...route.config, access }
    for (const method of [route.method].flat()) routes.push({ method, url: route.url, access })
  })

  app.addHook('onRequest', async (request, reply) => {
    const access = request.routeOptions.config.access
    const token = bearerToken(request)
    const session = token === '' && sessions !== undefined ? await sessions.of(request.headers) : null
    const standing = token === '' ? null : reviews.standingOf(token)
    // Every registered route has a rule: a request without one matches no route and gets a 404.
    const isOpen = access === undefined || access.kind === 'public' || access.kind === 'signed'
    if (isOpen || standing?.kind !== 'new') await limitSender(request, reply, senderOf(standing, session))
    if (isOpen) return
    const caller = session?.caller ?? (standing === null ? null : await callerBy(token, standing, { request, reply }))
    if (caller === null) throw tokenInvalid(token)
    // Browsers attach cookies to requests of any page: writes need a CSRF check.
    if (session !== null && request.method !== 'GET' && request.method !== 'HEAD') sessions?.checkWrite(request.headers, session)
    request.loginSession = session
    request.caller = caller
    request.token = token
    const question = questionOf(access, request.params as Readonly<Record<string, string>>)
    if (question !== null && !(await reviews.isAllowed(caller, question)))
      throw new AppError('ACCESS_DENIED', `user ${JSON.stringify(caller.username)} may not ${questionText(reviews.rightFor(question))}`, {
        hint: 'Ask for a role that grants it.',
      })
  })

  /** Queues unknown tokens per client address. A token that proves valid counts for the rate limit of its client from then on. */
  async function callerBy(
    token: string,
    standing: TokenStanding,
    { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  ): Promise<Caller | null> {
    if (standing.kind !== 'new') return reviews.authenticate(token)
    const client = { address: addressOf(request), connection: request.raw.socket, signal: request.ending }
    const caller = await unauthenticated.run(client, () => reviews.authenticate(token), isUnauthenticated)
    if (caller !== null) await limitSender(request, reply, clientGroupOf(caller.username))
    return caller
  }
}

function isUnauthenticated(caller: Caller | null): boolean {
  return caller === null
}

/** @returns null if the request counts for its address */
function senderOf(standing: TokenStanding | null, session: Session | null): ClientGroup | null {
  if (session !== null) return clientGroupOf(session.caller.username)
  return standing?.kind === 'good' ? standing.sender : null
}

function isBelow(url: string, path: string): boolean {
  return url === path || url.startsWith(`${path}/`)
}

/** @returns the caller of a request on a route that is neither public nor signed */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === undefined) throw new Error('a public route has no caller')
  return request.caller
}

function tokenInvalid(token: string): AppError {
  const message = token === '' ? 'the request carries no bearer token' : 'the API server does not accept the bearer token of the request'
  return new AppError('TOKEN_INVALID', message, { hint: 'Send Authorization: Bearer TOKEN with a token that the API server accepts.' })
}

function bearerToken({ headers }: FastifyRequest): string {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
}
