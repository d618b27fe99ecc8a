import { AppError } from '@tranche/errors'
import { problemSchema } from '@tranche/api-schema'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { ApiServer } from '../http/create-server.ts'
import type { Login, Step } from '../login/login.ts'
import { tags } from './route-parts.ts'

/** Dependencies of the login routes. */
export interface LoginParts {
  /** Undefined if browser login is off. */
  readonly login?: Login | undefined
}

const away = { 302: z.null().meta({ description: 'Redirect to the next page.' }), default: problemSchema }

/** Adds the routes for login through an OpenID provider and for logout. */
export function addLoginRoutes(app: ApiServer, { login }: LoginParts): void {
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
    async ({ query }, reply) => {
      send(reply as FastifyReply, await existing(login).begin(query.return_to))
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
      send(reply as FastifyReply, await existing(login).finish(url, headers))
    },
  )
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
      void reply.header('set-cookie', existing(login).sessions.end(loginSession)).status(204)
      await (reply as FastifyReply).send()
    },
  )
}

function existing(login: Login | undefined): Login {
  if (login !== undefined) return login
  throw new AppError('NOT_FOUND', 'browser login is off', {
    hint: 'Start the API with --oidc-issuer, or send a bearer token.',
  })
}

function send(reply: FastifyReply, { location, cookies }: Step): void {
  void reply.header('set-cookie', [...cookies]).redirect(location, 302)
}
