import { objectParamsSchema, policyReportSchema, type ReleasePolicy } from '@tranche/api-schema'
import { type ObjectKey, rolloutAnnotations } from '@tranche/kube-types'
import { describePolicy } from '@tranche/reports'
import type { ApiServer } from '../http/create-server.ts'
import { answers, existing, type RouteParts, tags } from './route-parts.ts'

/** Dependencies of the policy route. */
export interface PolicyRouteParts extends Pick<RouteParts, 'reads'> {
  /** Reads a ReleasePolicy from the API server; undefined if there is none. */
  readonly readPolicy: (key: ObjectKey, signal: AbortSignal) => Promise<ReleasePolicy | undefined>
}

/** Adds the route that returns the policy of a Rollout in words. */
export function addPolicyRoute(app: ApiServer, { reads, readPolicy }: PolicyRouteParts): void {
  app.get(
    '/api/v1/namespaces/:namespace/rollouts/:name/policy',
    {
      config: { access: { kind: 'resource', verb: 'get', resource: 'rollouts' } },
      schema: {
        tags: tags.rollouts,
        operationId: 'getPolicy',
        summary: 'Get its release policy in words',
        description:
          'Includes the defaults of everything that the policy omits. What the installation does not allow is not among the `sentences`. ' +
          'These contain no header and no body, and of a URL only the host, because those may hold credentials. The message of `state` is ' +
          'the one in the status of the Rollout.',
        params: objectParamsSchema,
        response: answers(policyReportSchema),
      },
    },
    async ({ params, ending }) => {
      const rollout = existing(reads.rollout(params), 'Rollout', params)
      const name = rollout.metadata.annotations?.[rolloutAnnotations.releasePolicy]
      const policy = name === undefined ? undefined : await readPolicy({ namespace: params.namespace, name }, ending)
      return describePolicy(rollout, policy)
    },
  )
}
