import type { Clock, Timer } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long a request of the route may take, in milliseconds, body and answer included. @default Limits.requestMs */
    timeMs?: number
  }
  interface FastifyRequest {
    /** Aborts when the time of the request is up, or nobody waits for its answer any more. Whoever acts for the request heeds it. */
    ending: AbortSignal
  }
}

/** How long whoever heeds the end of a request has to say what it has done, in milliseconds. */
const LAST_WORD_MS = 1_000

/**
 * Gives every request its time. When that is up `request.ending` aborts; who acts for the request stops then, and answers by what it has
 * done. Of what does not answer in a second it is said that it was given up (503, `NOT_READY`). To be called before there are other hooks.
 *
 * The limit of the framework ends as soon as a body is read, and tells nobody who acts for the request.
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
      if (!raw.writableFinished) ending.abort(new AppError('NOT_READY', 'the sender did not wait for the answer'))
    })
    request.ending = ending.signal
    done()
  })
}

function tooLate(timeMs: number): AppError {
  return new AppError('NOT_READY', `the request took longer than its ${timeMs / 1000} s and was given up`, { hint: 'Try again.' })
}
