import { meSchema, validateAnswerSchema, validateRequestSchema } from '@tranche/api-schema'
import { callerOf } from '../http/guard.ts'
import { createValidator } from '../checks/create-validator.ts'
import type { ApiServer } from '../http/create-server.ts'
import { answers, type RouteParts, tags } from './route-parts.ts'

/** Adds the routes that need only a valid token: `/me` and `/validate`. */
export async function addCheckRoutes(app: ApiServer, { limits }: Pick<RouteParts, 'limits'>): Promise<void> {
  app.get(
    '/api/v1/me',
    {
      config: { access: { kind: 'authenticated', why: 'it returns only what the API server says about the caller' } },
      schema: { tags: tags.checks, operationId: 'whoAmI', summary: 'Get the user of the token', response: answers(meSchema) },
    },
    async (request) => {
      const { username, uid, groups } = callerOf(request)
      const csrfToken = request.loginSession?.csrfToken
      return { username, groups, ...(uid !== undefined && { uid }), ...(csrfToken !== undefined && { csrfToken }) }
    },
  )
  const validate = createValidator()
  await app.register(async (scope: ApiServer) => {
    scope.addContentTypeParser(
      ['application/yaml', 'application/x-yaml', 'text/yaml'],
      { parseAs: 'string' },
      async (_request: unknown, body: string) => ({
        manifests: body,
      }),
    )
    scope.post(
      '/api/v1/validate',
      {
        config: { access: { kind: 'authenticated', why: 'it reads only the request, not the cluster' } },
        bodyLimit: limits.manifestBytes,
        schema: {
          tags: tags.checks,
          operationId: 'validate',
          summary: 'Check manifests, as `tranche lint` does',
          description:
            'Checks all documents together. Runs one check at a time; a few requests wait, at most one per user. ' +
            'The body may also be plain YAML, with `Content-Type: application/yaml`.',
          body: validateRequestSchema,
          response: answers(validateAnswerSchema),
        },
      },
      async (request) => {
        const { username } = callerOf(request)
        return validate(request.body.manifests, { by: username, signal: request.ending })
      },
    )
  })
}
