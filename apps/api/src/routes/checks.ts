import { meSchema, validateAnswerSchema, validateRequestSchema } from '@tranche/api-schema'
import { callerOf } from '../auth/guard.ts'
import { createValidator } from '../checks/create-validator.ts'
import type { ApiServer } from '../http/create-server.ts'
import { answers, type RouteParts, tags } from './route-parts.ts'

/** Routes that need no more than a good token: who am I, and are these manifests right? */
export async function addCheckRoutes(app: ApiServer, { limits }: Pick<RouteParts, 'limits'>): Promise<void> {
  app.get(
    '/api/v1/me',
    {
      config: { access: { kind: 'authenticated', why: 'it tells callers what the API server says of themselves' } },
      schema: { tags: tags.checks, operationId: 'readOwnUsername', summary: 'Who the token stands for', response: answers(meSchema) },
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
        config: { access: { kind: 'authenticated', why: 'it looks at what was sent alone, and at nothing of the cluster' } },
        bodyLimit: limits.manifestBytes,
        schema: {
          tags: tags.checks,
          operationId: 'validate',
          summary: 'Check manifests, as `tranche lint` does',
          description:
            'All documents are checked together; long ones one request at a time, a few wait, one of each user. YAML may also be sent as it is, with `Content-Type: application/yaml`.',
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
