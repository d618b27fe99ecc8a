import { AppError } from '@tranche/errors'
import { JSON_LEVELS_MAX, nestsDeeperThan } from '@tranche/kube-types'
import type { FastifyInstance } from 'fastify'

/** Refuses bodies that no schema bounds in depth, before anything walks them. */
export function refuseDeepBodies(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ body }) => {
    if (!Buffer.isBuffer(body)) refuseDeepValue(body)
  })
}

/** @throws {AppError} REQUEST_INVALID if objects and lists of a parsed body are nested more than {@link JSON_LEVELS_MAX} deep */
export function refuseDeepValue(body: unknown): void {
  if (!nestsDeeperThan(JSON_LEVELS_MAX, body)) return
  throw new AppError('REQUEST_INVALID', `body: objects and lists are nested more than ${JSON_LEVELS_MAX} deep`, {
    hint: 'Use fewer levels; a DaemonSet needs about 20.',
  })
}
