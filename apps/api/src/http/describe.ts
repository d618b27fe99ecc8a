import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { createJsonSchemaTransform, jsonSchemaTransformObject } from '@fastify/type-provider-zod'
import type { Access } from '../auth/access.ts'
import type { ApiServer } from './create-server.ts'

/** Path of the page to read about routes and to try them. */
export const DOCS_PATH = '/docs'

/** Why the routes below {@link DOCS_PATH}, which a plugin registers, are open to anyone. */
export const docsAccess: Access = {
  kind: 'public',
  why: 'it shows the published description of the routes; to try one still takes a token',
}

/** Describes all routes that are registered later, in OpenAPI 3.1. */
export async function describeRoutes(app: ApiServer): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tranche',
        version: 'v1',
        description:
          'Releases of Kubernetes DaemonSets in batches: what they wait for, and the wishes of people and pipelines. Nothing is decided here: ' +
          'a wish is written to the cluster, and the controller acts on it.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'A token that the API server of the cluster accepts.' },
        },
      },
      security: [{ bearer: [] }],
    },
    transform: createJsonSchemaTransform({ skipList: ['/openapi.json'] }),
    transformObject: jsonSchemaTransformObject,
  })
}

/** Serves the description, and the page. Register it last. */
export async function serveDescription(app: ApiServer): Promise<void> {
  app.get(
    '/openapi.json',
    {
      config: { access: { kind: 'public', why: 'it is the published description of the routes, the same for every cluster' } },
      schema: { hide: true },
    },
    async () => app.swagger(),
  )
  await app.register(swaggerUi, {
    routePrefix: DOCS_PATH,
    staticCSP: true,
    uiConfig: { tryItOutEnabled: true, persistAuthorization: false },
  })
}
