import { createSharedQuota } from '@tranche/connections'
import { AppError } from '@tranche/errors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientGroupOf } from '../limits/client-group.ts'

/** Limits on the total size of bodies being received, in bytes. */
export interface BodyLimits {
  /** Maximum of all authenticated users together. */
  readonly receivedBytes: number
  /** Maximum of one user, or of the service accounts of one namespace. */
  readonly receivedBytesOfUser: number
}

/**
 * Bounds the memory of unfinished bodies of authenticated users. Each request reserves its declared length, or the body limit of its
 * route, until the body has arrived. Must be registered after authentication. Throws RATE_LIMITED above a limit.
 */
export function limitBodies(app: FastifyInstance, { receivedBytes, receivedBytesOfUser }: BodyLimits): void {
  const quota = createSharedQuota({ each: receivedBytesOfUser, total: receivedBytes })
  const reserved = new WeakMap<FastifyRequest, () => void>()

  function reserve(username: string, bytes: number): () => void {
    const { key, text } = clientGroupOf(username)
    const leave = quota.take(key, bytes)
    if (leave === 'caller') throw tooMuch(text, receivedBytesOfUser)
    if (leave === 'total') throw tooMuch('all users together', receivedBytes)
    return leave
  }

  function release(request: FastifyRequest): void {
    reserved.get(request)?.()
    reserved.delete(request)
  }

  app.addHook('preParsing', async (request, reply, payload) => {
    const { caller } = request
    if (caller === undefined) return payload
    const bytes = bytesOf(request)
    if (bytes === 0) return payload
    reserved.set(request, reserve(caller.username, bytes))
    reply.raw.once('close', () => release(request))
    return payload
  })
  app.addHook('preValidation', async (request) => release(request))
}

/** @returns bytes to reserve; Fastify refuses a declared length above the route's limit when it reads the body */
function bytesOf({ headers, routeOptions }: FastifyRequest): number {
  const { bodyLimit } = routeOptions
  const length = headers['content-length']
  if (length !== undefined) return Math.min(Number(length), bodyLimit)
  return headers['transfer-encoding'] === undefined ? 0 : bodyLimit
}

function tooMuch(owner: string, bytes: number): AppError {
  return new AppError('RATE_LIMITED', `the unfinished request bodies of ${owner} are above their limit of ${bytes / 1024 / 1024} MiB`, {
    hint: 'Wait until requests in progress are sent, and try again.',
  })
}
