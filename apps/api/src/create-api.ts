import { systemClock } from '@tranche/clock'
import { silentLogger, noTracer, type Tracer } from '@tranche/telemetry'
import { defaultLimits } from './limits/limits.ts'
import { describeRoutes, docsAccess, DOCS_PATH, serveDescription } from './http/describe.ts'
import { createApiMetrics } from './http/metrics.ts'
import { traceRequests } from './http/trace-requests.ts'
import { type ApiServer, createServer, type ServerParts } from './http/create-server.ts'
import { DASHBOARD_PATH, dashboardAccess, serveDashboard } from './http/dashboard.ts'
import { addCheckRoutes } from './routes/checks.ts'
import { addDoctorRoute, type DoctorRouteParts } from './routes/doctor.ts'
import { addHookRoute, type HookParts } from './routes/hooks.ts'
import { addHealthRoutes, type HealthParts } from './routes/health.ts'
import { addLoginRoutes, type LoginParts } from './routes/login.ts'
import { addNodeEventsRoute, type NodeEventsRouteParts } from './routes/node-events.ts'
import { addPermissionsRoute } from './routes/permissions.ts'
import { addPlanRoute } from './routes/plan.ts'
import { addPolicyRoute, type PolicyRouteParts } from './routes/policy.ts'
import { addRolloutPartRoutes } from './routes/rollout-parts.ts'
import { addRolloutRoutes } from './routes/rollouts.ts'
import type { RouteParts } from './routes/route-parts.ts'
import { addStreamRoute, type StreamParts } from './routes/stream.ts'
import { addActionRoutes } from './routes/actions.ts'

/** Dependencies of the API and all its routes. */
export interface ApiParts
  extends Omit<ServerParts & StreamParts & LoginParts, 'sessions'>,
    RouteParts,
    PolicyRouteParts,
    DoctorRouteParts,
    NodeEventsRouteParts,
    HealthParts,
    HookParts {
  /** @default exports no spans */
  readonly tracer?: Tracer | undefined
  /** Folder of the built dashboard; undefined: it is not built. */
  readonly dashboard?: string | undefined
}

/** Builds the API with all its routes, without listening. */
export async function createApi(parts: ApiParts): Promise<ApiServer> {
  const pluginAccess = { [DOCS_PATH]: docsAccess, [DASHBOARD_PATH]: dashboardAccess }
  const sessions = (parts.login ?? parts.link)?.sessions
  const app = await createServer({ ...parts, sessions }, pluginAccess)
  parts.metrics.count(app)
  traceRequests(app, parts.tracer ?? noTracer)
  await describeRoutes(app)
  addRolloutRoutes(app, parts)
  addRolloutPartRoutes(app, parts)
  addNodeEventsRoute(app, parts)
  addPermissionsRoute(app, parts)
  addPolicyRoute(app, parts)
  addActionRoutes(app, parts)
  addPlanRoute(app, parts)
  await addHookRoute(app, parts)
  addStreamRoute(app, { ...parts, sessions })
  addLoginRoutes(app, { ...parts, sessions })
  await addCheckRoutes(app, parts)
  addDoctorRoute(app, parts)
  addHealthRoutes(app, parts)
  await serveDashboard(app, parts.dashboard)
  await serveDescription(app)
  return app
}

/** @returns the OpenAPI 3.1 document of all routes, as served at `/openapi.json` */
export async function describeApi(): Promise<object> {
  const app = await createApi({
    reads: undefined as never,
    reviews: undefined as never,
    carryOut: async () => Promise.reject(new Error('nothing is served here')),
    plan: async () => Promise.reject(new Error('nothing is planned here')),
    readPolicy: async () => undefined,
    runDoctor: async () => Promise.reject(new Error('nothing is checked here')),
    readObjectEvents: async () => [],
    stream: () => undefined,
    clock: systemClock,
    log: silentLogger,
    limits: defaultLimits,
    corsOrigins: [],
    trustProxies: [],
    checkAnswers: false,
    isSynced: () => false,
    isStopping: () => false,
    metrics: createApiMetrics(),
  })
  await app.ready()
  try {
    return app.swagger()
  } finally {
    await app.close()
  }
}
