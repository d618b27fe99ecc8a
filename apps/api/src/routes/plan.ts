import { forecastRequestSchema, forecastSchema, objectParamsSchema } from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import { accessResources } from '../auth/access.ts'
import { callerOf } from '../http/guard.ts'
import type { ApiServer } from '../http/create-server.ts'
import { answers, type RouteParts, tags } from './route-parts.ts'

/** Adds the route that forecasts a release. It writes nothing. */
export function addPlanRoute(app: ApiServer, { plan, limits, reviews }: RouteParts): void {
  app.post(
    '/api/v1/namespaces/:namespace/rollouts/:name/plan',
    {
      config: { access: { kind: 'resource', verb: 'get', resource: 'rollouts' }, timeMs: limits.requestMs + limits.planMs },
      schema: {
        tags: tags.rollouts,
        operationId: 'planRollout',
        summary: 'Forecast the release',
        description:
          'Runs the release in virtual time on a copy of the cluster: the order of nodes with reasons, the duration, and what would stop it. ' +
          'Changes nothing. Runs one forecast at a time; a few requests wait, at most one per user.',
        params: objectParamsSchema,
        body: forecastRequestSchema.nullish(),
        response: answers(forecastSchema),
      },
    },
    async (request) => {
      const { namespace, name } = request.params
      const caller = callerOf(request)
      const mayGet = (daemonSet: ObjectKey): Promise<boolean> =>
        reviews.isAllowed(caller, { kind: 'resource', verb: 'get', ...accessResources.daemonsets, ...daemonSet })
      return plan({ key: { namespace, name }, request: request.body ?? {}, by: caller.username, mayGet }, request.ending)
    },
  )
}
