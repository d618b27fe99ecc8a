import { AppError } from '@tranche/errors'
import { problemSchema } from '@tranche/api-schema'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { ApiServer } from '../http/create-server.ts'
import type { Login, Step } from '../login/login.ts'
import { tags } from './route-parts.ts'

/** What the routes of the login work with. */
export interface LoginParts {
  /** Undefined where people do not log in with a browser. */
  readonly login?: Login | undefined
}

const away = { 302: z.null().meta({ description: 'Where the browser goes on.' }), default: problemSchema }

/** Routes by which people log in with a browser, and log out. */
export function addLoginRoutes(app: ApiServer, { login }: LoginParts): void {
  app.get(
    '/login',
    {
      config: { access: { kind: 'public', why: 'who logs in has no session yet; it sends them to the OpenID provider' } },
      schema: {
        tags: tags.login,
        operationId: 'logIn',
        summary: 'Log in with a browser',
        security: [],
        querystring: z.object({
          return_to: z.string().max(1_024).optional().meta({ description: 'Path on this origin to come back to; others are left out.' }),
        }),
        response: away,
      },
    },
    async ({ query }, reply) => {
      send(reply as FastifyReply, await existing(login).begin(query.return_to))
    },
  )
  app.get(
    '/login/callback',
    {
      config: { access: { kind: 'public', why: 'the OpenID provider sends the browser back here, and what it brings is checked' } },
      schema: { tags: tags.login, operationId: 'finishLogin', summary: 'Come back from the OpenID provider', security: [], response: away },
    },
    async ({ url, headers }, reply) => {
      void reply.header('referrer-policy', 'no-referrer')
      send(reply as FastifyReply, await existing(login).finish(url, headers))
    },
  )
  app.post(
    '/logout',
    {
      config: { access: { kind: 'authenticated', why: 'it ends the session of the browser that asks for it' } },
      schema: {
        tags: tags.login,
        operationId: 'logOut',
        summary: 'End the session of a browser',
        response: { 204: z.null().meta({ description: 'The session has ended, and its cookie is taken away.' }), default: problemSchema },
      },
    },
    async ({ loginSession }, reply) => {
      void reply.header('set-cookie', existing(login).sessions.end(loginSession)).status(204)
      await (reply as FastifyReply).send()
    },
  )
}

function existing(login: Login | undefined): Login {
  if (login !== undefined) return login
  throw new AppError('NOT_FOUND', 'nobody logs in with a browser here', {
    hint: 'Start the API with --oidc-issuer, or send a bearer token.',
  })
}

function send(reply: FastifyReply, { location, cookies }: Step): void {
  void reply.header('set-cookie', [...cookies]).redirect(location, 302)
}
