import { AppError } from '@tranche/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressOf } from './address-of.ts'
import type { ApiServer } from './create-server.ts'

/**
 * Counts requests of each address, as {@link addressOf} tells it, beside what holds for all routes.
 *
 * @returns throws RATE_LIMITED where an address sends more than `perSecond`
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
