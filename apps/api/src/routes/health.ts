import { problemSchema } from '@tranche/api-schema'
import { AppError, errorCatalog, type ErrorCode } from '@tranche/errors'
import { z } from 'zod'
import type { ApiServer } from '../http/create-server.ts'
import type { ApiMetrics } from '../http/metrics.ts'
import errorHelp from './error-help.generated.json' with { type: 'json' }
import { answers, tags } from './route-parts.ts'

/** Dependencies of the health and metrics routes. */
export interface HealthParts {
  /** True once the initial lists from the API server have arrived. */
  readonly isSynced: () => boolean
  readonly isStopping: () => boolean
  readonly metrics: ApiMetrics
}

const probe = {
  kind: 'public',
  why: 'kubelets and load balancers send no token; it reports the state of the server, not of the cluster',
} as const
const TEXT = 'text/plain'
const live = z.object({ status: z.literal('ok') })
const errorSchema = z
  .object({
    code: z.string(),
    summary: z.string().meta({ description: 'The event, in one sentence.' }),
    when: z.string().meta({ description: 'Usual causes.' }),
    fix: z.string().meta({ description: 'What to do.' }),
    remedy: z.enum(['retry', 'fixInput', 'giveUp']),
    status: z.int(),
  })
  .meta({ id: 'Error' })

/** Adds the routes for liveness, readiness, metrics and error codes. */
export function addHealthRoutes(app: ApiServer, parts: HealthParts): void {
  addLivenessRoute(app)
  addReadinessRoute(app, parts)
  addMetricsRoute(app, parts)
  addErrorRoute(app)
}

function addLivenessRoute(app: ApiServer): void {
  app.get(
    '/healthz',
    {
      config: { access: probe },
      schema: {
        tags: tags.server,
        operationId: 'isAlive',
        summary: 'Check liveness of the process',
        security: [],
        response: answers(live),
      },
    },
    async () => ({ status: 'ok' as const }),
  )
}

function addReadinessRoute(app: ApiServer, { isSynced, isStopping }: HealthParts): void {
  app.get(
    '/readyz',
    {
      config: { access: probe },
      schema: {
        tags: tags.server,
        operationId: 'isReady',
        summary: 'Check readiness: the initial lists from the API server have arrived',
        security: [],
        response: { 200: live, 503: problemSchema, default: problemSchema },
      },
    },
    async () => {
      if (isStopping()) throw new AppError('NOT_READY', 'the server is shutting down')
      if (!isSynced()) throw new AppError('NOT_READY', 'the initial lists from the API server have not arrived yet')
      return { status: 'ok' as const }
    },
  )
}

function addMetricsRoute(app: ApiServer, { metrics }: HealthParts): void {
  app.get(
    '/metrics',
    {
      config: { access: { kind: 'path', verb: 'get', path: '/metrics' } },
      schema: {
        tags: tags.server,
        operationId: 'getMetrics',
        summary: 'Get metrics in the Prometheus text format',
        produces: [TEXT],
        response: { 200: z.string(), default: problemSchema },
      },
    },
    async (_request, reply) =>
      reply
        .type(metrics.contentType)
        .serializer((text: unknown) => String(text))
        .send(await metrics.text()),
  )
}

function addErrorRoute(app: ApiServer): void {
  app.get(
    '/errors/:code',
    {
      config: { access: { kind: 'public', why: 'the error codes are published, and clients that cannot authenticate need them most' } },
      schema: {
        tags: tags.server,
        operationId: 'explainError',
        summary: 'Explain an error code',
        security: [],
        params: z.object({ code: z.string().max(64) }),
        response: answers(errorSchema),
      },
    },
    async ({ params: { code } }) => {
      if (!Object.hasOwn(errorCatalog, code)) throw new AppError('NOT_FOUND', `there is no error code ${JSON.stringify(code)}`)
      const { summary, remedy, httpStatus } = errorCatalog[code as ErrorCode]
      return { code, summary, ...errorHelp[code as ErrorCode], remedy, status: httpStatus }
    },
  )
}
