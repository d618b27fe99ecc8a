import { describeRoutes, docsAccess, DOCS_PATH, serveDescription } from './http/describe.ts'
import { type ApiServer, createServer, type ServerParts } from './http/create-server.ts'
import { addHealthRoutes, type HealthParts } from './routes/health.ts'
import { addRolloutRoutes } from './routes/rollouts.ts'
import type { RouteParts } from './routes/route-parts.ts'

/** Everything that the API is made of. */
export interface ApiParts extends ServerParts, RouteParts, HealthParts {}

/** Builds the API with all its routes; it listens nowhere yet. */
export async function createApi(parts: ApiParts): Promise<ApiServer> {
  const app = await createServer(parts, { [DOCS_PATH]: docsAccess })
  await describeRoutes(app)
  addRolloutRoutes(app, parts)
  addHealthRoutes(app, parts)
  await serveDescription(app)
  return app
}
