import { type ActionType, actionTypes, objectParamsSchema, type Permissions, permissionsSchema } from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import type { FastifyRequest } from 'fastify'
import { accessResources, questionText } from '../auth/access.ts'
import type { Caller } from '../auth/caller.ts'
import { callerOf } from '../http/guard.ts'
import type { ApiServer } from '../http/create-server.ts'
import { answers, existing, getQuestion, type RouteParts, tags } from './route-parts.ts'

/** Adds the route that lists what the caller may do with a Rollout. */
export function addPermissionsRoute(app: ApiServer, { reads, reviews }: RouteParts): void {
  app.get(
    '/api/v1/namespaces/:namespace/rollouts/:name/permissions',
    {
      config: { access: { kind: 'resource', verb: 'get', resource: 'rollouts' } },
      schema: {
        tags: tags.rollouts,
        operationId: 'getPermissions',
        summary: 'Get what the caller may do with it',
        description:
          'The rights of the caller, as the API server of the cluster answers (SubjectAccessReview); answers are cached for ten seconds. ' +
          'The actions that the release accepts now are `actions` of the Rollout.',
        params: objectParamsSchema,
        response: answers(permissionsSchema),
      },
    },
    async (request): Promise<Permissions> => {
      const { params } = request
      const { daemonSet } = existing(reads.summary(params), 'Rollout', params)
      const caller = callerOf(request as FastifyRequest)
      const template = reviews.isAllowed(caller, getQuestion({ namespace: params.namespace, name: daemonSet }))
      const [may, ...items] = await Promise.all([
        template,
        ...actionTypes.map((action) => permissionFor({ reviews, caller }, params, action)),
      ])
      return { items, template: may }
    },
  )
}

async function permissionFor(
  { reviews, caller }: Pick<RouteParts, 'reviews'> & { readonly caller: Caller },
  { namespace, name }: ObjectKey,
  action: ActionType,
): Promise<Permissions['items'][number]> {
  const question = { kind: 'resource', verb: action, ...accessResources.rollouts, namespace, name } as const
  return { action, allowed: await reviews.isAllowed(caller, question), permission: questionText(question) }
}
