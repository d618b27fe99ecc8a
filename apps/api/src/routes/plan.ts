import { forecastRequestSchema, forecastSchema, objectParamsSchema } from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import { accessResources } from '../auth/access.ts'
import { callerOf } from '../auth/guard.ts'
import type { ApiServer } from '../http/create-server.ts'
import { answers, type RouteParts, tags } from './route-parts.ts'

/** The route that tells what a release would do. It reads, and writes nothing. */
export function addPlanRoute(app: ApiServer, { plan, limits, reviews }: RouteParts): void {
  app.post(
    '/api/v1/namespaces/:namespace/rollouts/:name/plan',
    {
      config: { access: { kind: 'resource', verb: 'get', resource: 'rollouts' }, timeMs: limits.requestMs + limits.planMs },
      schema: {
        tags: tags.rollouts,
        operationId: 'planRollout',
        summary: 'Tell what the release would do',
        description:
          'Runs the release in virtual time on a copy of the cluster: which node when and why, how long it takes, what would stop it. ' +
          'Nothing is changed. One forecast is made at a time; a few wait, one of each user.',
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
