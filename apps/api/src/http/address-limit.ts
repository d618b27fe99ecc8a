import { AppError } from '@tranche/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressOf } from '../limits/address-of.ts'
import type { ApiServer } from './create-server.ts'

/**
 * Limits the requests per second of each {@link addressOf} on one route, in addition to the limits of all routes.
 *
 * @returns a hook that throws RATE_LIMITED if an address sends more than `perSecond`
 */
export function createAddressLimit(app: ApiServer, perSecond: number): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const check = app.createRateLimit({ max: perSecond, timeWindow: 1_000, keyGenerator: addressOf })
  return async (request, reply) => {
    const limit = await check(request as never)
    if (limit.isAllowed || !limit.isExceeded) return
    void reply.header('retry-after', String(Math.max(1, limit.ttlInSeconds)))
    throw new AppError('RATE_LIMITED', `more than ${perSecond} requests in a second`, { hint: 'Wait, and try again.' })
  }
}
