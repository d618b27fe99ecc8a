import { AppError } from '@tranche/errors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Access, questionOf, questionText } from './access.ts'
import type { Session, Sessions } from '../login/sessions.ts'
import type { Caller } from './caller.ts'
import { addressOf } from '../http/address-of.ts'
import type { FairQueue } from '../http/fair-queue.ts'
import type { RememberedReviews, TokenStanding } from './remembered-reviews.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route. */
    access?: Access
  }
  interface FastifyRequest {
    /** Who sends the request; undefined on public routes and on signed ones alone. */
    caller: Caller | undefined
    /** The bearer token that `caller` was told from; empty where there is none. */
    token: string
    /** The session of a browser that `caller` was told from; null where there is none. */
    loginSession: Session | null
  }
  interface FastifyInstance {
    /** Every route that is registered, and who may use it. */
    guardedRoutes: readonly GuardedRoute[]
  }
}

/** A route, and who may use it. */
export interface GuardedRoute {
  readonly method: string
  /** With the names of its parameters: `/api/v1/rollouts/:name`. */
  readonly url: string
  readonly access: Access
}

/** What stands at the door. */
export interface GuardParts {
  readonly reviews: RememberedReviews
  /** Sessions of browsers; undefined where there are none. They count where a request carries no bearer token. */
  readonly sessions?: Sessions | undefined
  /** Counts a request of a sender, or of an address where nobody is known by its token; throws where there are too many. */
  readonly limitSender: (request: FastifyRequest, reply: FastifyReply, sender: string | null) => Promise<void>
  /** Where requests wait whose token the API server has not been asked about: nobody can tell guesses from others yet. */
  readonly unauthenticated: FairQueue
  /** Who may use the routes that a plugin registers below a path. */
  readonly pluginAccess: Readonly<Record<string, Access>>
}

/**
 * Asks of every request who sends it and whether they may, before its body is read. A route that does not say who may use it
 * fails at the start of the server.
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
    if (access === undefined) throw new Error(`the route ${String(route.method)} ${route.url} does not say who may use it`)
    route.config = { ...route.config, access }
    for (const method of [route.method].flat()) routes.push({ method, url: route.url, access })
  })

  app.addHook('onRequest', async (request, reply) => {
    const access = request.routeOptions.config.access
    const token = bearerToken(request)
    const session = token === '' && sessions !== undefined ? await sessions.of(request.headers) : null
    const standing = token === '' ? null : reviews.standingOf(token)
    // Nothing is registered without: what comes here is no route, and will be told so.
    const isOpen = access === undefined || access.kind === 'public' || access.kind === 'signed'
    if (isOpen || standing?.kind !== 'new') await limitSender(request, reply, session?.id ?? senderOf(standing))
    if (isOpen) return
    const caller = session?.caller ?? (standing === null ? null : await callerBy(token, standing, { request, reply }))
    if (caller === null) throw tokenInvalid(token)
    // Browsers send cookies along with whatever any page has them ask for.
    if (session !== null && request.method !== 'GET' && request.method !== 'HEAD') sessions?.checkWrite(request.headers, session)
    request.loginSession = session
    request.caller = caller
    request.token = token
    const question = questionOf(access, request.params as Readonly<Record<string, string>>)
    if (question !== null && !(await reviews.isAllowed(caller, question)))
      throw new AppError('ACCESS_DENIED', `user ${JSON.stringify(caller.username)} may not ${questionText(question)}`, {
        hint: 'Ask for a role that grants it.',
      })
  })

  /** Who is new takes turns with those from the same address, and is counted by their token like others once somebody is known by it. */
  async function callerBy(
    token: string,
    standing: TokenStanding,
    { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  ): Promise<Caller | null> {
    if (standing.kind !== 'new') return reviews.authenticate(token)
    const client = { address: addressOf(request), connection: request.raw.socket, signal: request.ending }
    const caller = await unauthenticated.run(client, () => reviews.authenticate(token), isUnauthenticated)
    if (caller !== null) await limitSender(request, reply, senderOf(reviews.standingOf(token)))
    return caller
  }
}

function isUnauthenticated(caller: Caller | null): boolean {
  return caller === null
}

/** @returns null where a request counts for its address */
function senderOf(standing: TokenStanding | null): string | null {
  return standing?.kind === 'good' ? standing.sender : null
}

function isBelow(url: string, path: string): boolean {
  return url === path || url.startsWith(`${path}/`)
}

/** @returns who sends the request, on a route that is not public */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === undefined) throw new Error('a public route has no caller')
  return request.caller
}

function tokenInvalid(token: string): AppError {
  const message = token === '' ? 'the request carries no bearer token' : 'nobody is known by the bearer token of the request'
  return new AppError('TOKEN_INVALID', message, { hint: 'Send Authorization: Bearer TOKEN with a token that the API server accepts.' })
}

function bearerToken({ headers }: FastifyRequest): string {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
}
