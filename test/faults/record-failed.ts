import type { Clock } from '@tranche/clock'
import type { FailedRequest } from '@tranche/recording'
import type { Exchange } from '@tranche/wire'

/**
 * Records the requests of a process that have no answer, or an error other than 404, when the process learns of it.
 *
 * @param exchange as the process uses it
 * @param clock of the recording
 */
export function recordFailed(exchange: Exchange, actor: string, clock: Clock, fail: (request: FailedRequest) => void): Exchange {
  return async (request, signal) => {
    const { method, path } = request
    const failed = (): void => fail({ actor, atMs: clock.nowMs(), method, path })
    try {
      const response = await exchange(request, signal)
      if (response.status >= 400 && response.status !== 404) failed()
      return response
    } catch (error) {
      failed()
      throw error
    }
  }
}
