import type { IncomingHttpHeaders } from 'node:http'
import { AppError, errorCatalog, isAppError } from '@tranche/errors'
import { type LoginMethods, loginMethodsSchema, problemSchema } from '@tranche/api-schema'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { ApiServer } from '../http/create-server.ts'
import type { LinkLogin } from '../login/link-login.ts'
import type { Login, Step } from '../login/login.ts'
import type { Sessions } from '../login/sessions.ts'
import { tags } from './route-parts.ts'

/** Dependencies of the login routes. */
export interface LoginParts {
  /** Login through an OpenID provider; undefined: off. */
  readonly login?: Login | undefined
  /** Login by links with one-time codes; undefined: off. */
  readonly link?: LinkLogin | undefined
  /** Whether the API accepts bearer tokens. @default true */
  readonly acceptsTokens?: boolean
  /** Sessions of either login. */
  readonly sessions?: Sessions | undefined
}

const away = { 302: z.null().meta({ description: 'Redirect to the next page.' }), default: problemSchema }

/** Adds the routes for login, through an OpenID provider or by a link, and for logout. */
export function addLoginRoutes(app: ApiServer, parts: LoginParts): void {
  addMethodsRoute(app, parts)
  addProviderRoutes(app, parts)
  addLinkRoute(app, parts)
  addLogoutRoute(app, parts)
}

function addMethodsRoute(app: ApiServer, { login, link, acceptsTokens = true }: LoginParts): void {
  const methods: LoginMethods['methods'] = [
    ...(acceptsTokens ? (['token'] as const) : []),
    ...(login === undefined ? [] : (['openIdConnect'] as const)),
    ...(link === undefined ? [] : (['link'] as const)),
  ]
  app.get(
    '/api/v1/login-methods',
    {
      config: { access: { kind: 'public', why: 'the sign-in page needs it before there is a user, and it names no secret' } },
      schema: {
        tags: tags.login,
        operationId: 'listLoginMethods',
        summary: 'List the ways to log in',
        security: [],
        response: { 200: loginMethodsSchema, default: problemSchema },
      },
    },
    () => ({ methods }),
  )
}

function addProviderRoutes(app: ApiServer, { login, link }: LoginParts): void {
  app.get(
    '/login',
    {
      config: { access: { kind: 'public', why: 'the user has no session yet; it redirects to the OpenID provider' } },
      schema: {
        tags: tags.login,
        operationId: 'logIn',
        summary: 'Log in with a browser',
        security: [],
        querystring: z.object({
          return_to: z
            .string()
            .max(1_024)
            .optional()
            .meta({ description: 'Path on this origin to return to after login; other values are ignored.' }),
        }),
        response: away,
      },
    },
    async ({ query, headers }, reply) => {
      const begun = async (): Promise<Step> => existing(login, link).begin(query.return_to)
      if (link === undefined) send(reply as FastifyReply, await begun())
      else await orPage(reply as FastifyReply, headers, begun)
    },
  )
  app.get(
    '/login/callback',
    {
      config: { access: { kind: 'public', why: 'the OpenID provider redirects the browser here, and the parameters are verified' } },
      schema: {
        tags: tags.login,
        operationId: 'finishLogin',
        summary: 'Finish the login after the OpenID provider',
        security: [],
        response: away,
      },
    },
    async ({ url, headers }, reply) => {
      void reply.header('referrer-policy', 'no-referrer')
      send(reply as FastifyReply, await existing(login, link).finish(url, headers))
    },
  )
}

/** Content security policy of the page about a link that does not work. */
const PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

function addLinkRoute(app: ApiServer, { link }: LoginParts): void {
  app.get(
    '/login/link',
    {
      // A HEAD request, such as of a program that checks links, must not use the code.
      exposeHeadRoute: false,
      config: { access: { kind: 'public', why: 'the user has no session yet; the one-time code is verified' } },
      schema: {
        tags: tags.login,
        operationId: 'followLink',
        summary: 'Log in by a link of `tranche dev` or `tranche dashboard`',
        description: 'Exchanges the one-time code of the link for the session of a browser. Only these two commands make such links.',
        security: [],
        querystring: z.object({ code: z.string().max(256).optional() }),
        response: away,
      },
    },
    async ({ query, headers }, reply) => {
      if (link === undefined)
        throw new AppError('NOT_FOUND', 'login by links is off', { hint: 'Only tranche dev and tranche dashboard have it.' })
      await orPage(reply as FastifyReply, headers, () => link.follow(query.code, headers))
    },
  )
}

/** Sends the step; a person gets a page about a failure instead of a problem. */
async function orPage(reply: FastifyReply, { accept }: IncomingHttpHeaders, next: () => Promise<Step>): Promise<void> {
  try {
    send(reply, await next())
  } catch (error) {
    if (!isAppError(error) || accept?.includes('text/html') !== true) throw error
    await sendPage(reply, error)
  }
}

function sendPage(reply: FastifyReply, { code, message, hint = '' }: AppError): FastifyReply {
  const text = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Tranche: not logged in</title>
<h1>Not logged in</h1>
<p>${escaped(message.charAt(0).toUpperCase() + message.slice(1))}.</p>
<p>${escaped(hint)}</p>
</html>
`
  return reply
    .status(errorCatalog[code].httpStatus)
    .header('content-security-policy', PAGE_POLICY)
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(text)
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
}

function addLogoutRoute(app: ApiServer, { sessions, link }: LoginParts): void {
  app.post(
    '/logout',
    {
      config: { access: { kind: 'authenticated', why: 'it ends only the session of the calling browser' } },
      schema: {
        tags: tags.login,
        operationId: 'logOut',
        summary: 'End the session of a browser',
        response: { 204: z.null().meta({ description: 'The session has ended, and its cookie is deleted.' }), default: problemSchema },
      },
    },
    async ({ loginSession }, reply) => {
      void reply.header('set-cookie', existing(sessions, link).end(loginSession)).status(204)
      await (reply as FastifyReply).send()
    },
  )
}

function existing<T>(part: T | undefined, link: LinkLogin | undefined): T {
  if (part !== undefined) return part
  throw new AppError('NOT_FOUND', 'browser login is off', {
    hint: link?.hint ?? 'Start the API with --oidc-issuer, or send a bearer token.',
  })
}

function send(reply: FastifyReply, { location, cookies }: Step): void {
  if (cookies.length > 0) void reply.header('set-cookie', [...cookies])
  void reply.redirect(location, 302)
}
