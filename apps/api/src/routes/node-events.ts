import { NODE_EVENTS_MAX, type NodeEvents, nodeEventsSchema, nodeParamsSchema } from '@tranche/api-schema'
import { type EventObject, newestFirst, type StampedNodeEvent } from '@tranche/release-client'
import type { FastifyRequest } from 'fastify'
import { accessResources, questionText } from '../auth/access.ts'
import type { Caller } from '../auth/caller.ts'
import type { Question } from '../auth/reviews.ts'
import type { ReadObjectEvents } from '../cluster/object-events.ts'
import type { ApiServer } from '../http/create-server.ts'
import { callerOf } from '../http/guard.ts'
import { answers, existing, nodeNotFound, type RouteParts, tags, workloadAccessOf } from './route-parts.ts'

/** Dependencies of the route of a node's events. */
export interface NodeEventsRouteParts extends Pick<RouteParts, 'reads' | 'reviews'> {
  readonly readObjectEvents: ReadObjectEvents
}

/** Adds the route that returns the events about a node and its pod. */
export function addNodeEventsRoute(app: ApiServer, parts: NodeEventsRouteParts): void {
  app.get(
    '/api/v1/namespaces/:namespace/rollouts/:name/nodes/:node/events',
    {
      config: { access: { kind: 'resource', verb: 'get', resource: 'rollouts' } },
      schema: {
        tags: tags.rollouts,
        operationId: 'listNodeEvents',
        summary: 'List the events about a node and its pod, newest first',
        description:
          'The caller must also be allowed to `list` events: in the namespace of the Rollout for those of the pod, and in the namespace ' +
          '`default` for those of the node. Events that the caller, or the API itself, may not list are left out, and `omitted` names the ' +
          'missing right.',
        params: nodeParamsSchema,
        response: answers(nodeEventsSchema),
      },
    },
    async (request): Promise<NodeEvents> => {
      const { params } = request
      existing(parts.reads.summary(params), 'Rollout', params)
      const found = parts.reads.nodeObjects(params, params.node, await workloadAccessOf(parts, request, params))
      if (found === undefined) throw nodeNotFound(params)
      const caller = callerOf(request as FastifyRequest)
      const [ofPod, ofNode] = await Promise.all([
        eventsOf(parts, caller, { of: 'pod', namespace: params.namespace, object: found.pod }),
        eventsOf(parts, caller, { of: 'node', namespace: found.node.namespace, object: found.node }),
      ])
      const events = [...ofPod.events, ...ofNode.events].sort(newestFirst).slice(0, NODE_EVENTS_MAX)
      return { items: events.map(({ report }) => report), omitted: [...ofPod.omitted, ...ofNode.omitted] }
    },
  )
}

interface EventsPart {
  readonly of: 'pod' | 'node'
  /** Namespace of the events. */
  readonly namespace: string
  /** Undefined if there is none. */
  readonly object: EventObject | undefined
}

/** Events of one part, or why they are left out. */
interface FoundEvents {
  readonly events: readonly StampedNodeEvent[]
  readonly omitted: NodeEvents['omitted']
}

async function eventsOf(
  { reviews, readObjectEvents }: NodeEventsRouteParts,
  caller: Caller,
  { of, namespace, object }: EventsPart,
): Promise<FoundEvents> {
  if (object === undefined) return { events: [], omitted: [] }
  const question: Question = { kind: 'resource', verb: 'list', ...accessResources.events, namespace, name: '' }
  const lacking = (lacks: 'caller' | 'api'): FoundEvents => ({
    events: [],
    omitted: [{ of, lacks, permission: questionText(reviews.rightFor(question)) }],
  })
  if (!(await reviews.isAllowed(caller, question))) return lacking('caller')
  const events = await readObjectEvents(object)
  return events === null ? lacking('api') : { events, omitted: [] }
}
