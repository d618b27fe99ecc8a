import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { createJsonSchemaTransform, jsonSchemaTransformObject } from '@fastify/type-provider-zod'
import type { Access } from '../auth/access.ts'
import type { ApiServer } from './create-server.ts'
import { PROBLEM_TYPE } from './problems.ts'

/** Path of the Swagger UI. */
export const DOCS_PATH = '/docs'

/** Content security policy of the Swagger UI: it loads only files of this server. */
const PAGE_POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'self'"

/** Access rule of the plugin routes below {@link DOCS_PATH}. */
export const docsAccess: Access = {
  kind: 'public',
  why: 'it shows the published OpenAPI document; calling a route still needs a token',
}

/** Generates the OpenAPI 3.1 document of all routes registered later. */
export async function describeRoutes(app: ApiServer): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tranche',
        version: 'v1',
        description:
          'Progressive delivery for Kubernetes DaemonSets: the state of releases, and actions of users and pipelines. The API makes no ' +
          'decisions: it writes actions to the cluster, and the controller executes them.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'A token that the API server of the cluster accepts (TokenReview).' },
        },
      },
      security: [{ bearer: [] }],
    },
    transform: createJsonSchemaTransform({ skipList: ['/openapi.json'] }),
    transformObject: (source) => asSpoken(withoutUnused(jsonSchemaTransformObject(source) as Described)) as never,
  })
}

type Described = {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> }
}

interface DescribedOperation {
  readonly requestBody?: { readonly required?: boolean; readonly content?: Content }
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>
}

type Content = Readonly<Record<string, { readonly schema?: object }>>

/** Fixes what the framework cannot express: the media type of problems, and optional request bodies. */
function asSpoken({ paths = {}, ...described }: Described): Described {
  const spoken = ({ requestBody, responses = {}, ...operation }: DescribedOperation): DescribedOperation => ({
    ...operation,
    ...(requestBody !== undefined && { requestBody: { ...requestBody, required: !mayBeNull(requestBody.content) } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, answer]) => [status, isProblem(status) ? asProblem(answer) : answer]),
    ),
  })
  const each = <T>(record: Readonly<Record<string, T>>, change: (value: T) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
  return { ...described, paths: each(paths, (path) => each(path, spoken)) }
}

function mayBeNull(content: Content = {}): boolean {
  return Object.values(content).some(({ schema }) =>
    (schema as { readonly anyOf?: readonly { readonly type?: string }[] }).anyOf?.some(({ type }) => type === 'null'),
  )
}

function isProblem(status: string): boolean {
  return status === 'default' || Number(status) >= 400
}

function asProblem<T extends { readonly content?: Content }>({ content = {}, ...answer }: T): object {
  const [schema] = Object.values(content)
  return { ...answer, content: { [PROBLEM_TYPE]: schema ?? {} } }
}

/** Removes schemas that no route uses. The framework emits every schema twice, for input and output. */
function withoutUnused(described: Described): Described {
  const { schemas = {}, ...components } = described.components ?? {}
  const used = new Set<string>()
  const visit = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      visit(schemas[name] ?? null)
    }
  }
  visit({ ...described, components })
  const plain = (name: string): string => (used.has(name.replace(/Input$/, '')) ? name : name.replace(/Input$/, ''))
  const named = Object.entries(schemas).filter(([name]) => used.has(name))
  const sorted = Object.fromEntries(named.map(([name, schema]) => [plain(name), schema] as const).sort(([a], [b]) => (a < b ? -1 : 1)))
  const whole = JSON.stringify({ ...described, components: { ...components, schemas: sorted } })
  return JSON.parse(whole.replace(/(?<="#\/components\/schemas\/)[^"]+/g, plain)) as Described
}

/** Serves `/openapi.json` and the Swagger UI. Must be registered last. */
export async function serveDescription(app: ApiServer): Promise<void> {
  app.get(
    '/openapi.json',
    {
      config: { access: { kind: 'public', why: 'it is the published OpenAPI document, the same for every cluster' } },
      schema: { hide: true },
    },
    async () => app.swagger(),
  )
  await app.register(swaggerUi, {
    routePrefix: DOCS_PATH,
    staticCSP: PAGE_POLICY,
    uiConfig: { tryItOutEnabled: true, persistAuthorization: false, validatorUrl: null },
  })
}
