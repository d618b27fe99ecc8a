import type { Clock, Timer } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Time limit of a request of the route, in milliseconds, including body and answer. @default Limits.requestMs */
    timeMs?: number
  }
  interface FastifyRequest {
    /** Aborts at the time limit of the request, or when the client disconnects. Handlers must stop on it. */
    ending: AbortSignal
  }
}

/** Time for a handler to answer after `ending` has aborted, in milliseconds. */
const LAST_WORD_MS = 1_000

/**
 * Limits the time of every request. At the limit `request.ending` aborts; the handler stops and answers with the result so far. Without
 * an answer within one second, the request fails with 503 `NOT_READY`. Must be registered before other hooks.
 *
 * Fastify's own limit covers only the receipt of the request and does not signal the handler.
 */
export function limitTime(app: FastifyInstance, { clock, requestMs }: { readonly clock: Clock; readonly requestMs: number }): void {
  app.decorateRequest('ending', null as never)
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = reply
    const ending = new AbortController()
    const timeMs = request.routeOptions.config.timeMs ?? requestMs
    let timer: Timer = clock.setTimer(timeMs, () => {
      if (reply.sent) return
      const error = tooLate(timeMs)
      ending.abort(error)
      timer = clock.setTimer(LAST_WORD_MS, () => {
        if (reply.sent) return
        if (raw.headersSent) raw.destroy()
        else void reply.send(error)
      })
    })
    raw.once('close', () => {
      timer.cancel()
      if (!raw.writableFinished) ending.abort(new AppError('NOT_READY', 'the client disconnected before the answer'))
    })
    request.ending = ending.signal
    done()
  })
}

function tooLate(timeMs: number): AppError {
  return new AppError('NOT_READY', `the request exceeded its time limit of ${timeMs / 1000} s`, { hint: 'Try again.' })
}
