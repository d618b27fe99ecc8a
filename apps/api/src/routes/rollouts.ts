import {
  namespaceParamsSchema,
  objectParamsSchema,
  pageOf,
  type RolloutsQuery,
  type RolloutSummary,
  rolloutReportSchema,
  rolloutsQuerySchema,
  rolloutSummarySchema,
} from '@tranche/api-schema'
import { keyText } from '@tranche/kube-types'
import { createObjectFaults, type Logger } from '@tranche/telemetry'
import { callerOf } from '../http/guard.ts'
import { visibleNamespaces } from '../auth/visibility.ts'
import type { ApiServer } from '../http/create-server.ts'
import { type Page, pageOfList } from '../http/page.ts'
import { answers, existing, type RouteParts, workloadAccessOf, tags } from './route-parts.ts'

const rolloutPage = pageOf(rolloutSummarySchema).meta({ id: 'RolloutPage' })

/** Dependencies of {@link addRolloutRoutes}. */
export interface RolloutRouteParts extends Pick<RouteParts, 'reads' | 'reviews'> {
  readonly log: Logger
}

/** Adds the routes that list Rollouts and get one. A list leaves out a Rollout that cannot be summarized, and logs it once. */
export function addRolloutRoutes(app: ApiServer, { reads, reviews, log }: RolloutRouteParts): void {
  const faults = createObjectFaults((fields) => log.error(fields, 'left out a Rollout that cannot be summarized'))
  const listed = (query: Query, isShown: (namespace: string) => boolean): Page<RolloutSummary> => {
    const shown = reads.keys().filter(({ namespace }) => isShown(namespace))
    const summaries = shown.flatMap((key) => faults.attempt(keyText(key), () => reads.summary(key)) ?? [])
    return pageOfSummaries(summaries, query)
  }
  app.get(
    '/api/v1/rollouts',
    {
      config: { access: { kind: 'filtered' } },
      schema: {
        tags: tags.rollouts,
        operationId: 'listRollouts',
        summary: 'List the Rollouts of all namespaces',
        description: 'Contains only the namespaces whose Rollouts the caller may list. The existence of others is not revealed.',
        querystring: rolloutsQuerySchema,
        response: answers(rolloutPage),
      },
    },
    async (request) => {
      const namespaces = new Set(reads.keys().map(({ namespace }) => namespace))
      const visible = await visibleNamespaces(reviews, callerOf(request), wanted(namespaces, request.query.namespace))
      return listed(request.query, (namespace) => visible.has(namespace))
    },
  )
  app.get(
    '/api/v1/namespaces/:namespace/rollouts',
    {
      config: { access: { kind: 'resource', verb: 'list', resource: 'rollouts' } },
      schema: {
        tags: tags.rollouts,
        operationId: 'listNamespacedRollouts',
        summary: 'List the Rollouts of a namespace',
        params: namespaceParamsSchema,
        querystring: rolloutsQuerySchema.omit({ namespace: true }),
        response: answers(rolloutPage),
      },
    },
    async ({ params, query }) => listed(query, (namespace) => namespace === params.namespace),
  )
  app.get(
    '/api/v1/namespaces/:namespace/rollouts/:name',
    {
      config: { access: { kind: 'resource', verb: 'get', resource: 'rollouts' } },
      schema: {
        tags: tags.rollouts,
        operationId: 'getRollout',
        summary: 'Get a Rollout in full',
        params: objectParamsSchema,
        response: answers(rolloutReportSchema),
      },
    },
    async (request) => {
      const { params } = request
      return existing(reads.report(params, await workloadAccessOf({ reads, reviews }, request, params)), 'Rollout', params)
    },
  )
}

function wanted(namespaces: ReadonlySet<string>, only: string | undefined): readonly string[] {
  return only === undefined ? [...namespaces] : [...namespaces].filter((namespace) => namespace === only)
}

type Query = Omit<RolloutsQuery, 'namespace'>

function pageOfSummaries(all: readonly RolloutSummary[], query: Query): Page<RolloutSummary> {
  const summaries = all.filter((summary) => isWanted(summary, query))
  const { cursor, limit, sort, order } = query
  const place = (summary: RolloutSummary): readonly (string | number)[] => [...sortKey(summary, sort), summary.namespace, summary.name]
  return pageOfList(summaries, { cursor, limit, of: `rollouts ${sort} ${order}`, place, descending: order === 'desc' })
}

function isWanted(summary: RolloutSummary, { phase, outcome, need, q }: Query): boolean {
  if (phase !== undefined && summary.phase !== phase) return false
  if (outcome !== undefined && summary.outcome !== outcome) return false
  if (need !== undefined && (summary.need !== undefined) !== (need === 'true')) return false
  const { namespace, name, daemonSet, images } = summary
  return q === undefined || [namespace, name, daemonSet, ...images].some((text) => text.toLowerCase().includes(q.toLowerCase()))
}

function sortKey({ name, phase, outcome, nodes }: RolloutSummary, sort: Query['sort']): readonly (string | number)[] {
  switch (sort) {
    case 'name':
      return [name]
    case 'namespace':
      return []
    case 'phase':
      return [phase]
    case 'outcome':
      return [outcome]
    case 'updated':
      return [nodes.desired === 0 ? 1 : nodes.updated / nodes.desired]
  }
}
