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
import { AppError } from '@tranche/errors'
import { z } from 'zod'
import type { ApiServer } from '../http/create-server.ts'
import { pageOfList } from '../http/page.ts'
import type { ReleaseReads } from '../release-reads.ts'
import { answers, existing, type RouteParts, tags } from './route-parts.ts'

const base = '/api/v1/namespaces/:namespace/rollouts/:name'
const readConfig = { access: { kind: 'resource', verb: 'get', resource: 'rollouts' } } as const
const described = { tags: tags.rollouts, params: objectParamsSchema } as const

/** Routes that tell one side of a Rollout: its batches, nodes, revisions, history, events, and why it stands where it stands. */
export function addRolloutPartRoutes(app: ApiServer, { reads }: RouteParts): void {
  addNodeRoutes(app, reads)
  addExplanationRoutes(app, reads)
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
    async ({ params }) => ({ items: existing(reads.batches(params), 'Rollout', params) }),
  )
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
    async ({ params }) => ({ items: existing(reads.revisions(params), 'Rollout', params) }),
  )
  app.get(
    `${base}/revisions/:revision`,
    {
      config: readConfig,
      schema: {
        ...described,
        operationId: 'getRevision',
        summary: 'Get a revision with its pod template',
        params: revisionParamsSchema,
        response: answers(revisionTemplateSchema),
      },
    },
    async ({ params }) => existing(reads.template(params, params.revision), 'Rollout', params),
  )
  app.get(
    `${base}/history`,
    {
      config: readConfig,
      schema: {
        ...described,
        operationId: 'getHistory',
        summary: 'Get its revisions, what was taken back, and who asked for what',
        response: answers(historyReportSchema),
      },
    },
    async ({ params }) => existing(reads.history(params), 'Rollout', params),
  )
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
    async ({ params }) => ({ items: existing(reads.events(params), 'Rollout', params) }),
  )
}

function addNodeRoutes(app: ApiServer, reads: ReleaseReads): void {
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
    async ({ params, query }) => {
      const nodes = existing(reads.nodes(params), 'Rollout', params).filter((node) => isWanted(node, query))
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

function addExplanationRoutes(app: ApiServer, reads: ReleaseReads): void {
  app.get(
    `${base}/nodes/:node`,
    {
      config: readConfig,
      schema: {
        ...described,
        operationId: 'explainNode',
        summary: 'Explain why a node is, or is not, updated',
        params: nodeParamsSchema,
        response: answers(explanationSchema),
      },
    },
    async ({ params }) => {
      existing(reads.summary(params), 'Rollout', params)
      const explanation = reads.explainNode(params, params.node)
      if (explanation !== undefined) return explanation
      throw new AppError(
        'NODE_NOT_FOUND',
        `the DaemonSet of Rollout ${JSON.stringify(params.name)} is not wanted on a node ${JSON.stringify(params.node)}`,
      )
    },
  )
  app.get(
    `${base}/explain`,
    {
      config: readConfig,
      schema: { ...described, operationId: 'explainRollout', summary: 'Explain what it waits for', response: answers(explanationSchema) },
    },
    async ({ params }) => existing(reads.explain(params), 'Rollout', params),
  )
}

function listOf<S extends z.ZodType>(item: S, name: string): z.ZodObject<{ items: z.ZodArray<S> }> {
  return z.object({ items: z.array(item) }).meta({ id: `${name}List` })
}
