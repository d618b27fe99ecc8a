import {
  hookBodySchema,
  hookHeadersSchema,
  hookParamsSchema,
  waitQuerySchema,
  type ActionAnswer,
  actionAnswerSchema,
} from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import type { ActionOrder } from '@tranche/release-client'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { ApiServer } from '../http/create-server.ts'
import type { Hook } from '../hooks/hook.ts'
import type { AdmittedMessage, HookHandler } from '../hooks/hook-handler.ts'
import { addressOf } from '../limits/address-of.ts'
import { createAddressLimit } from '../http/address-limit.ts'
import { notSeenYet } from '../http/problems.ts'
import { refuseDeepValue } from '../http/refuse-deep-bodies.ts'
import type { ReleaseReads } from '../cluster/release-reads.ts'
import { answers, type RouteParts, tags } from './route-parts.ts'
import { waitingMs } from './actions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The verified message to a hook; null on all other routes. */
    admitted: AdmittedMessage | null
  }
}

/** Dependencies of the hook route. */
export interface HookParts extends Pick<RouteParts, 'reads' | 'carryOut' | 'limits'> {
  /** Undefined if hooks are off. */
  readonly hooks?: HookHandler | undefined
  /** True once the initial lists have arrived; until then the Rollout of a DaemonSet is unknown. */
  readonly isSynced: () => boolean
}

/** Maximum size of a message, in bytes. */
const LARGEST = 16 * 1024
/** Maximum number of messages per second and client address. */
const MESSAGES_PER_SECOND = 10

const signed = {
  kind: 'signed',
  why: 'the signature authenticates the sender, and the hook lists the allowed actions; both are checked first',
} as const

const hookSchema = {
  tags: tags.hooks,
  operationId: 'sendToHook',
  summary: 'Send an action through a hook',
  description:
    'The sender needs no token: the body is signed. 401 covers an invalid or expired signature, an unknown hook, and an action that ' +
    'the hook does not allow. 404: hooks are off.',
  security: [],
  params: hookParamsSchema,
  querystring: waitQuerySchema,
  headers: hookHeadersSchema,
  body: hookBodySchema,
  response: { ...answers(actionAnswerSchema), 202: actionAnswerSchema },
}

/** Adds the route for pipelines that control a release with an HMAC key instead of a token. */
export async function addHookRoute(app: ApiServer, parts: HookParts): Promise<void> {
  const { hooks, carryOut, limits } = parts
  await app.register(async (scope: ApiServer) => {
    takeBytes(scope)
    const limitAddress = createAddressLimit(scope, MESSAGES_PER_SECOND)
    scope.post(
      '/api/v1/namespaces/:namespace/hooks/:hook',
      {
        config: { access: signed, timeMs: waitingMs(limits.requestMs) },
        bodyLimit: LARGEST,
        onRequest: async (request, reply) => {
          if (hooks === undefined) throw new AppError('NOT_FOUND', 'hooks are off', { hint: 'Start the API with --hooks.' })
          await limitAddress(request as FastifyRequest, reply as FastifyReply)
        },
        preValidation: (request) => admit(request as FastifyRequest, hooks),
        schema: hookSchema,
      },
      async (request, reply) => {
        const order = orderOf(request, request.admitted, parts)
        const answer: ActionAnswer = await carryOut({ ...order, waitMs: request.query.wait * 1000 }, request.ending)
        return reply.status(answer.state === 'acknowledged' ? 200 : 202).send(answer)
      },
    )
  })
}

/** Keeps the body as bytes: the signature covers the bytes. */
function takeBytes(scope: ApiServer): void {
  scope.decorateRequest('admitted', null)
  scope.removeAllContentTypeParsers()
  const plain = scope as unknown as FastifyInstance
  plain.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)
}

/** Verifies the signature over the bytes of the body, then parses them. */
async function admit(request: FastifyRequest, hooks: HookHandler | undefined): Promise<void> {
  const { namespace = '', hook = '' } = request.params as Readonly<Record<string, string | undefined>>
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const sender = { address: addressOf(request), connection: request.raw.socket, signal: request.ending }
  const signature = request.headers['x-tranche-signature']
  request.admitted = (await hooks?.admit({ namespace, hook, body, signature, sender })) ?? null
  request.body = jsonOf(body)
}

function jsonOf(body: Buffer): unknown {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch {
    throw new AppError('REQUEST_INVALID', 'the body is not JSON')
  }
  refuseDeepValue(value)
  return value
}

interface HookRequest {
  readonly body: z.infer<typeof hookBodySchema>
  readonly ip: string
}

/** @throws {AppError} if the hook does not allow the action, or its Rollout is unknown */
function orderOf({ body: message, ip }: HookRequest, admitted: AdmittedMessage | null, parts: HookParts): Omit<ActionOrder, 'waitMs'> {
  const { hooks, reads, isSynced } = parts
  if (hooks === undefined || admitted === null) throw new Error('the message was not verified')
  const { id, action, ...body } = message
  const { hook, repeatableSinceMs } = admitted
  hooks.allow(hook, action)
  if (hook.target.kind === 'DaemonSet' && !isSynced()) throw notSeenYet()
  return {
    on: 'Rollout',
    key: rolloutOf(hook, reads),
    type: action,
    body,
    by: `hook:${hook.name}`,
    via: 'hook',
    from: ip,
    idempotencyKey: id,
    repeatableSinceMs,
  }
}

/** @returns the Rollout of a hook; for a hook on a DaemonSet, the Rollout that it is bound to and that names it */
function rolloutOf({ namespace, target }: Hook, reads: ReleaseReads): ObjectKey {
  if (target.kind === 'Rollout') return { namespace, name: target.name }
  const bound = reads.boundRolloutOf({ namespace, name: target.name })
  if (bound !== undefined) return bound
  throw new AppError(
    'ROLLOUT_NOT_FOUND',
    `DaemonSet ${JSON.stringify(target.name)} in namespace ${JSON.stringify(namespace)} is not bound to a Rollout that names it`,
    { hint: 'Point spec.workloadRef of one Rollout at the DaemonSet, and wait until the controller has bound it.' },
  )
}
