import { AppError } from '@tranche/errors'
import type { FastifyReply } from 'fastify'

/** Aborts once nobody waits for the answer. (The request's own signal aborts as soon as the body is read.) */
export function whileConnected({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new AppError('NOT_READY', 'the sender did not wait for the answer'))
  })
  return gone.signal
}
