import {
  daemonSetRollbackSchema,
  historyReportSchema,
  idempotencyHeadersSchema,
  objectParamsSchema,
  waitQuerySchema,
  type WishAnswer,
  wishAnswerSchema,
  wishBodySchema,
  type WishType,
  wishTypes,
} from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import type { WishOrder } from '@tranche/steering'
import type { FastifyRequest } from 'fastify'
import { accessResources } from '../auth/access.ts'
import type { Caller } from '../auth/caller.ts'
import { callerOf } from '../auth/guard.ts'
import type { ApiServer } from '../http/create-server.ts'
import { answers, existing, type RouteParts, tags } from './route-parts.ts'

/**
 * Writes a wish to the cluster, and waits for its answer as long as it says. After `timeUp` it writes nothing any more: where nothing is
 * written by then it throws the signal's reason, else it answers by what is written.
 *
 * @throws {AppError} why it is refused: MOVED_ON, WISH_PENDING, IDEMPOTENCY_KEY_REUSED …
 */
export type CarryOut = (order: WishOrder, timeUp: AbortSignal) => Promise<WishAnswer>

/** What each wish is, for people who read the description. */
const summaries: Readonly<Record<WishType, string>> = {
  pause: 'Stop everything, the batch in flight too',
  resume: 'Go on after a pause, or after what stopped the release',
  approve: 'Let the release go on from the paused step; needs `expectedStep`',
  promote: 'Skip the pauses that remain; with `full` soak and analysis too, never the budget',
  abort: 'Stop the release and take the version back',
  retry: 'Lift a hold: release again what was stopped or taken back',
  undo: 'Go back to an earlier revision',
  jump: 'Go to a step; needs `step` and `expectedStep`',
  restart: 'Replace all pods, with the template as it is',
}

const answered = { ...answers(wishAnswerSchema), 202: wishAnswerSchema }

/** Routes by which people and pipelines steer. Each wish is also the verb that its sender needs on the Rollout. */
export function addWishRoutes(app: ApiServer, { carryOut, reads, reviews, limits }: RouteParts): void {
  for (const type of wishTypes)
    app.post(
      `/api/v1/namespaces/:namespace/rollouts/:name/actions/${type}`,
      {
        config: { access: { kind: 'resource', verb: type, resource: 'rollouts' }, timeMs: waitingMs(limits.requestMs) },
        schema: {
          tags: tags.actions,
          operationId: type,
          summary: summaries[type],
          description:
            '202: the wish is written, and the controller will act on it. 200: it has. 409: the release has moved on, or another wish is ' +
            'still unanswered; nothing was written.',
          params: objectParamsSchema,
          querystring: waitQuerySchema,
          headers: idempotencyHeadersSchema,
          body: wishBodySchema.nullish(),
          response: answered,
        },
      },
      async (request, reply) => {
        const order = { on: 'Rollout', key: keyOf(request.params), type, body: request.body ?? {}, ...senderOf(request) } as const
        const answer = await carryOut({ ...order, ...asked(request) }, request.ending)
        return reply.status(answer.state === 'acknowledged' ? 200 : 202).send(answer)
      },
    )
  app.get(
    '/api/v1/namespaces/:namespace/daemonsets/:name/history',
    {
      config: { access: { kind: 'resource', verb: 'get', resource: 'daemonsets' } },
      schema: {
        tags: tags.daemonSets,
        operationId: 'getDaemonSetHistory',
        summary: 'Get the revisions of a DaemonSet, with a Rollout or without',
        description:
          'Of what stands on its Rollout it is told whoever may `get` that; to others it is told as if there were none, and `rolloutHidden` is true.',
        params: objectParamsSchema,
        response: answers(historyReportSchema),
      },
    },
    async (request) => {
      const { params } = request
      const rollout = reads.rolloutOf(params)
      const maySee = rollout === undefined || (await mayGet(reviews, callerOf(request as FastifyRequest), rollout))
      const history = existing(reads.daemonSetHistory(params, maySee), 'DaemonSet', params)
      return maySee ? history : { ...history, rolloutHidden: true }
    },
  )
  app.post(
    '/api/v1/namespaces/:namespace/daemonsets/:name/rollback',
    {
      config: { access: { kind: 'resource', verb: 'patch', resource: 'daemonsets' }, timeMs: waitingMs(limits.requestMs) },
      schema: {
        tags: tags.daemonSets,
        operationId: 'rollBackDaemonSet',
        summary: 'Go back to an earlier revision, as `kubectl rollout undo` does',
        params: objectParamsSchema,
        querystring: waitQuerySchema,
        headers: idempotencyHeadersSchema,
        body: daemonSetRollbackSchema.nullish(),
        response: answered,
      },
    },
    async (request, reply) => {
      const { dryRun = false, ...body } = request.body ?? {}
      const order = { on: 'DaemonSet', key: keyOf(request.params), type: 'undo', body, dryRun, ...senderOf(request) } as const
      const answer = await carryOut({ ...order, ...asked(request) }, request.ending)
      return reply.status(answer.state === 'acknowledged' || dryRun ? 200 : 202).send(answer)
    },
  )
}

function mayGet(reviews: RouteParts['reviews'], caller: Caller, { namespace, name }: ObjectKey): Promise<boolean> {
  return reviews.isAllowed(caller, { kind: 'resource', verb: 'get', ...accessResources.rollouts, namespace, name })
}

/** The longest wait that can be asked for, and the time of any request on top. */
export function waitingMs(requestMs: number): number {
  return 60_000 + requestMs
}

function keyOf({ namespace, name }: ObjectKey): ObjectKey {
  return { namespace, name }
}

function senderOf(request: { readonly ip: string }): Pick<WishOrder, 'by' | 'via' | 'from'> {
  return { by: callerOf(request as FastifyRequest).username, via: 'rest', from: request.ip }
}

interface Asking {
  readonly query: { readonly wait: number }
  readonly headers: { readonly 'idempotency-key'?: string | undefined }
}

function asked({ query, headers }: Asking): Pick<WishOrder, 'waitMs' | 'idempotencyKey'> {
  const idempotencyKey = headers['idempotency-key']
  return { waitMs: query.wait * 1000, ...(idempotencyKey !== undefined && { idempotencyKey }) }
}
