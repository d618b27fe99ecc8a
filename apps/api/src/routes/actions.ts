import {
  daemonSetRollbackSchema,
  historyReportSchema,
  idempotencyHeadersSchema,
  objectParamsSchema,
  waitQuerySchema,
  type ActionAnswer,
  actionAnswerSchema,
  actionBodySchema,
  type ActionType,
  actionTypes,
} from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import type { ActionOrder } from '@tranche/release-client'
import type { FastifyRequest } from 'fastify'
import { accessResources } from '../auth/access.ts'
import type { Caller } from '../auth/caller.ts'
import { callerOf } from '../http/guard.ts'
import type { ApiServer } from '../http/create-server.ts'
import { answers, existing, type RouteParts, tags } from './route-parts.ts'

/**
 * Writes an action to the cluster and waits for the controller's answer, for at most the `waitMs` of the order. Writes nothing after
 * `timeUp`: if the action is not written by then, it rejects with the signal's reason. For a written action it returns the current state.
 *
 * @throws {AppError} the reason of the refusal: MOVED_ON, ACTION_PENDING, IDEMPOTENCY_KEY_REUSED …
 */
export type CarryOut = (order: ActionOrder, timeUp: AbortSignal) => Promise<ActionAnswer>

/** Summary of each action in the OpenAPI document. */
const summaries: Readonly<Record<ActionType, string>> = {
  pause: 'Stop the release, including the batch in flight',
  resume: 'Resume a paused or stopped release',
  approve: 'Approve the paused step; needs `expectedStep`',
  promote: 'Skip the remaining pauses; `full` also skips soak and analysis, never the budget',
  abort: 'Stop the release and roll back',
  retry: 'Lift a hold: release a stopped or rolled-back revision again',
  undo: 'Roll back to an earlier revision',
  jump: 'Jump to a step; needs `step` and `expectedStep`',
  restart: 'Replace all pods without changing the template',
}

const answered = { ...answers(actionAnswerSchema), 202: actionAnswerSchema }

/** Adds one POST route per action. The caller needs the action's type as an RBAC verb on the Rollout. */
export function addActionRoutes(app: ApiServer, parts: RouteParts): void {
  for (const type of actionTypes) addActionRoute(app, parts, type)
  addDaemonSetHistoryRoute(app, parts)
  addDaemonSetRollbackRoute(app, parts)
}

function addActionRoute(app: ApiServer, { carryOut, limits }: RouteParts, type: ActionType): void {
  app.post(
    `/api/v1/namespaces/:namespace/rollouts/:name/actions/${type}`,
    {
      config: { access: { kind: 'resource', verb: type, resource: 'rollouts' }, timeMs: waitingMs(limits.requestMs) },
      schema: {
        tags: tags.actions,
        operationId: type,
        summary: summaries[type],
        description:
          '202: the action is written, and the controller has not answered yet. 200: the controller has answered. 409: the release has ' +
          'moved on, or another action is still unanswered; nothing was written.',
        params: objectParamsSchema,
        querystring: waitQuerySchema,
        headers: idempotencyHeadersSchema,
        body: actionBodySchema.nullish(),
        response: answered,
      },
    },
    async (request, reply) => {
      const order = { on: 'Rollout', key: keyOf(request.params), type, body: request.body ?? {}, ...senderOf(request) } as const
      const answer = await carryOut({ ...order, ...asked(request) }, request.ending)
      return reply.status(answer.state === 'acknowledged' ? 200 : 202).send(answer)
    },
  )
}

function addDaemonSetHistoryRoute(app: ApiServer, { reads, reviews }: RouteParts): void {
  app.get(
    '/api/v1/namespaces/:namespace/daemonsets/:name/history',
    {
      config: { access: { kind: 'resource', verb: 'get', resource: 'daemonsets' } },
      schema: {
        tags: tags.daemonSets,
        operationId: 'getDaemonSetHistory',
        summary: 'Get the revisions of a DaemonSet, with or without a Rollout',
        description:
          'Includes the history of its Rollout if the caller may `get` the Rollout. Otherwise that part is left out, and `rolloutHidden` is true.',
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
}

function mayGet(reviews: RouteParts['reviews'], caller: Caller, { namespace, name }: ObjectKey): Promise<boolean> {
  return reviews.isAllowed(caller, { kind: 'resource', verb: 'get', ...accessResources.rollouts, namespace, name })
}

function addDaemonSetRollbackRoute(app: ApiServer, { carryOut, limits }: RouteParts): void {
  app.post(
    '/api/v1/namespaces/:namespace/daemonsets/:name/rollback',
    {
      config: { access: { kind: 'resource', verb: 'patch', resource: 'daemonsets' }, timeMs: waitingMs(limits.requestMs) },
      schema: {
        tags: tags.daemonSets,
        operationId: 'rollBackDaemonSet',
        summary: 'Roll back to an earlier revision, as `kubectl rollout undo` does',
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

/** @returns time limit of a route with `?wait=`, in milliseconds: the longest `wait` (60 s) plus the limit of an ordinary request */
export function waitingMs(requestMs: number): number {
  return 60_000 + requestMs
}

function keyOf({ namespace, name }: ObjectKey): ObjectKey {
  return { namespace, name }
}

function senderOf(request: { readonly ip: string }): Pick<ActionOrder, 'by' | 'via' | 'from'> {
  return { by: callerOf(request as FastifyRequest).username, via: 'rest', from: request.ip }
}

interface Asking {
  readonly query: { readonly wait: number }
  readonly headers: { readonly 'idempotency-key'?: string | undefined }
}

function asked({ query, headers }: Asking): Pick<ActionOrder, 'waitMs' | 'idempotencyKey'> {
  const idempotencyKey = headers['idempotency-key']
  return { waitMs: query.wait * 1000, ...(idempotencyKey !== undefined && { idempotencyKey }) }
}
