import {
  batchReportSchema,
  eventReportSchema,
  explanationSchema,
  historyReportSchema,
  type NodeReport,
  nodeParamsSchema,
  nodeReportSchema,
  type NodesQuery,
  nodesQuerySchema,
  objectParamsSchema,
  pageOf,
  revisionParamsSchema,
  revisionReportSchema,
  revisionTemplateSchema,
} from '@tranche/api-schema'
import { z } from 'zod'
import type { ApiServer } from '../http/create-server.ts'
import { pageOfList } from '../http/page.ts'
import { answers, existing, nodeNotFound, requireTemplateRight, type RouteParts, workloadAccessOf, tags } from './route-parts.ts'

const base = '/api/v1/namespaces/:namespace/rollouts/:name'
const readConfig = { access: { kind: 'resource', verb: 'get', resource: 'rollouts' } } as const
const described = { tags: tags.rollouts, params: objectParamsSchema } as const

/** Adds the routes for parts of a Rollout: batches, nodes, revisions, history, events and explanations. */
export function addRolloutPartRoutes(app: ApiServer, parts: RouteParts): void {
  addNodesRoute(app, parts)
  addNodeRoute(app, parts)
  addExplanationRoute(app, parts)
  addBatchesRoute(app, parts)
  addRevisionsRoute(app, parts)
  addRevisionRoute(app, parts)
  addHistoryRoute(app, parts)
  addEventsRoute(app, parts)
}

function addNodesRoute(app: ApiServer, parts: RouteParts): void {
  app.get(
    `${base}/nodes`,
    {
      config: readConfig,
      schema: {
        ...described,
        operationId: 'listNodes',
        summary: 'List its nodes, by name',
        querystring: nodesQuerySchema,
        response: answers(pageOf(nodeReportSchema).meta({ id: 'NodePage' })),
      },
    },
    async (request) => {
      const { params, query } = request
      const workloadAccess = await workloadAccessOf(parts, request, params)
      const nodes = existing(parts.reads.nodes(params, workloadAccess), 'Rollout', params).filter((node) => isWanted(node, query))
      const { cursor, limit } = query
      return pageOfList(nodes, { cursor, limit, of: 'nodes', place: ({ name }) => [name] })
    },
  )
}

function isWanted({ state, zone, batch }: NodeReport, query: NodesQuery): boolean {
  if (query.state !== undefined && state !== query.state) return false
  if (query.zone !== undefined && zone !== query.zone) return false
  return query.batch === undefined || batch === query.batch
}

function addNodeRoute(app: ApiServer, parts: RouteParts): void {
  app.get(
    `${base}/nodes/:node`,
    {
      config: readConfig,
      schema: {
        ...described,
        operationId: 'explainNode',
        summary: 'Explain why a node is or is not updated',
        params: nodeParamsSchema,
        response: answers(explanationSchema),
      },
    },
    async (request) => {
      const { params } = request
      existing(parts.reads.summary(params), 'Rollout', params)
      const explanation = parts.reads.explainNode(params, params.node, await workloadAccessOf(parts, request, params))
      if (explanation !== undefined) return explanation
      throw nodeNotFound(params)
    },
  )
}

function addExplanationRoute(app: ApiServer, parts: RouteParts): void {
  app.get(
    `${base}/explain`,
    {
      config: readConfig,
      schema: {
        ...described,
        operationId: 'explainRollout',
        summary: 'Explain what the Rollout waits for',
        response: answers(explanationSchema),
      },
    },
    async (request) => {
      const { params } = request
      return existing(parts.reads.explain(params, await workloadAccessOf(parts, request, params)), 'Rollout', params)
    },
  )
}

function addBatchesRoute(app: ApiServer, parts: RouteParts): void {
  app.get(
    `${base}/batches`,
    {
      config: readConfig,
      schema: {
        ...described,
        operationId: 'listBatches',
        summary: 'List the batches of the release',
        response: answers(listOf(batchReportSchema, 'Batch')),
      },
    },
    async (request) => {
      const { params } = request
      const workloadAccess = await workloadAccessOf(parts, request, params)
      return { items: existing(parts.reads.batches(params, workloadAccess), 'Rollout', params) }
    },
  )
}

function addRevisionsRoute(app: ApiServer, parts: RouteParts): void {
  app.get(
    `${base}/revisions`,
    {
      config: readConfig,
      schema: {
        ...described,
        operationId: 'listRevisions',
        summary: 'List the revisions of its DaemonSet, newest first',
        response: answers(listOf(revisionReportSchema, 'Revision')),
      },
    },
    async (request) => {
      const { params } = request
      const workloadAccess = await workloadAccessOf(parts, request, params)
      return { items: existing(parts.reads.revisions(params, workloadAccess), 'Rollout', params) }
    },
  )
}

function addRevisionRoute(app: ApiServer, parts: RouteParts): void {
  app.get(
    `${base}/revisions/:revision`,
    {
      config: readConfig,
      schema: {
        ...described,
        operationId: 'getRevision',
        summary: 'Get a revision with its pod template',
        description:
          'The caller must also be allowed to `get` the DaemonSet, because a pod template holds the values of environment variables.',
        params: revisionParamsSchema,
        response: answers(revisionTemplateSchema),
      },
    },
    async (request) => {
      const { params } = request
      await requireTemplateRight(parts, request, params)
      return existing(parts.reads.template(params, params.revision, 'any'), 'Rollout', params)
    },
  )
}

function addHistoryRoute(app: ApiServer, parts: RouteParts): void {
  app.get(
    `${base}/history`,
    {
      config: readConfig,
      schema: {
        ...described,
        operationId: 'getHistory',
        summary: 'Get its revisions, rollbacks and actions with their users',
        response: answers(historyReportSchema),
      },
    },
    async (request) => {
      const { params } = request
      const workloadAccess = await workloadAccessOf(parts, request, params)
      return existing(parts.reads.history(params, workloadAccess), 'Rollout', params)
    },
  )
}

function addEventsRoute(app: ApiServer, parts: RouteParts): void {
  app.get(
    `${base}/events`,
    {
      config: readConfig,
      schema: {
        ...described,
        operationId: 'listEvents',
        summary: 'List the events about it, newest first',
        response: answers(listOf(eventReportSchema, 'Event')),
      },
    },
    async (request) => {
      const { params } = request
      const workloadAccess = await workloadAccessOf(parts, request, params)
      return { items: existing(parts.reads.events(params, workloadAccess), 'Rollout', params) }
    },
  )
}

function listOf<S extends z.ZodType>(item: S, name: string): z.ZodObject<{ items: z.ZodArray<S> }> {
  return z.object({ items: z.array(item) }).meta({ id: `${name}List` })
}
