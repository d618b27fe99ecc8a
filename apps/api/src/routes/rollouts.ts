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
import type { Clock } from '@tranche/clock'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import { createObjectFaults, type Logger } from '@tranche/telemetry'
import type { FastifyRequest } from 'fastify'
import type { RolloutHead } from '../cluster/release-reads.ts'
import { callerOf } from '../http/guard.ts'
import { visibleNamespaces } from '../auth/visibility.ts'
import type { ApiServer } from '../http/create-server.ts'
import { type Page, pageOfList, type Paging } from '../http/page.ts'
import { clientGroupOf } from '../limits/client-group.ts'
import { createListSlots } from '../limits/list-slots.ts'
import { mapInSlices } from '../limits/map-in-slices.ts'
import { answers, existing, type RouteParts, workloadAccessOf, tags } from './route-parts.ts'

const rolloutPage = pageOf(rolloutSummarySchema).meta({ id: 'RolloutPage' })

/** Dependencies of {@link addRolloutRoutes}. */
export interface RolloutRouteParts extends Pick<RouteParts, 'reads' | 'reviews'> {
  readonly log: Logger
  readonly clock: Clock
}

/** Adds the routes that list Rollouts and get one. */
export function addRolloutRoutes(app: ApiServer, parts: RolloutRouteParts): void {
  const { reads, reviews } = parts
  const listed = createLists(parts)
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
      return listed(request, request.query, (namespace) => visible.has(namespace))
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
    async (request) => listed(request, request.query, (namespace) => namespace === request.params.namespace),
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

type ListRollouts = (request: unknown, query: Query, isShown: (namespace: string) => boolean) => Promise<Page<RolloutSummary>>

/** Lists Rollouts of some namespaces. Leaves out a Rollout that cannot be summarized, and logs it once. */
function createLists({ reads, log, clock }: RolloutRouteParts): ListRollouts {
  const faults = createObjectFaults((fields) => log.error(fields, 'left out a Rollout that cannot be summarized'))
  const runList = createListSlots('lists of Rollouts')
  const summarize: Summarize = (key) => faults.attempt(keyText(key), () => reads.summary(key))
  return (request, query, isShown) => {
    const { ending } = request as FastifyRequest
    return runList(clientGroupOf(callerOf(request as FastifyRequest).username), ending, async () => {
      const heads = reads.heads().filter(({ namespace, phase }) => isShown(namespace) && (query.phase ?? phase) === phase)
      if (isOrderedByHeads(query)) return pageOfHeads(heads, query, summarize)
      const summaries = await mapInSlices(heads, summarize, { clock, signal: ending })
      return pageOfSummaries(summaries.filter(isFound), query)
    })
  }
}

function wanted(namespaces: ReadonlySet<string>, only: string | undefined): readonly string[] {
  return only === undefined ? [...namespaces] : [...namespaces].filter((namespace) => namespace === only)
}

type Query = Omit<RolloutsQuery, 'namespace'>

/** @returns undefined for a Rollout that does not exist any more or cannot be summarized */
type Summarize = (key: ObjectKey) => RolloutSummary | undefined

function isFound<T>(found: T | undefined): found is T {
  return found !== undefined
}

/** Whether the heads alone decide which Rollouts are on a page: then only those are summarized. */
function isOrderedByHeads({ outcome, need, q, sort }: Query): boolean {
  return outcome === undefined && need === undefined && q === undefined && sort !== 'outcome' && sort !== 'updated'
}

/** `total` counts Rollouts that cannot be summarized, too: only those of the page are tried. */
function pageOfHeads(heads: readonly RolloutHead[], query: Query, summarize: Summarize): Page<RolloutSummary> {
  const page = pageOfList(heads, { ...pagingOf(query), place: (head) => [...headKey(head, query.sort), head.namespace, head.name] })
  return { ...page, items: page.items.map(summarize).filter(isFound) }
}

function pageOfSummaries(all: readonly RolloutSummary[], query: Query): Page<RolloutSummary> {
  const summaries = all.filter((summary) => isWanted(summary, query))
  const place = (summary: RolloutSummary): readonly (string | number)[] => [
    ...sortKey(summary, query.sort),
    summary.namespace,
    summary.name,
  ]
  return pageOfList(summaries, { ...pagingOf(query), place })
}

function pagingOf({ cursor, limit, sort, order }: Query): Omit<Paging<never>, 'place'> {
  return { cursor, limit, of: `rollouts ${sort} ${order}`, descending: order === 'desc' }
}

function isWanted(summary: RolloutSummary, { outcome, need, q }: Query): boolean {
  if (outcome !== undefined && summary.outcome !== outcome) return false
  if (need !== undefined && (summary.need !== undefined) !== (need === 'true')) return false
  const { namespace, name, daemonSet, images } = summary
  return q === undefined || [namespace, name, daemonSet, ...images].some((text) => text.toLowerCase().includes(q.toLowerCase()))
}

function sortKey(summary: RolloutSummary, sort: Query['sort']): readonly (string | number)[] {
  const { outcome, nodes } = summary
  if (sort === 'outcome') return [outcome]
  if (sort === 'updated') return [nodes.desired === 0 ? 1 : nodes.updated / nodes.desired]
  return headKey(summary, sort)
}

function headKey({ name, phase }: RolloutHead, sort: Query['sort']): readonly string[] {
  if (sort === 'name') return [name]
  return sort === 'phase' ? [phase] : []
}
