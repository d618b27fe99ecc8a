import { systemClock } from '@tranche/clock'
import type { Exchange } from '@tranche/wire'
import type { OutputStream } from '../process/command-io.ts'
import { printable } from '../view/printable.ts'

/** Minimum level of `-v` that prints requests, as in kubectl. */
const REQUESTS_LEVEL = 6

/** @returns the exchange; from level 6, it prints each request and its response status to `stream`, never headers */
export function sayingRequests(
  exchange: Exchange,
  { server, verbosity = 0 }: { readonly server: string; readonly verbosity?: number | undefined },
  stream: Pick<OutputStream, 'write'>,
): Exchange {
  if (verbosity < REQUESTS_LEVEL) return exchange
  return async (request, signal) => {
    const begunMs = systemClock.monotonicMs()
    const said = (what: string): void => {
      const ms = Math.round(systemClock.monotonicMs() - begunMs)
      stream.write(`${printable(`${request.method} ${server}${request.path} ${what} in ${ms} ms`)}\n`)
    }
    try {
      const answer = await exchange(request, signal)
      said(String(answer.status))
      return answer
    } catch (error) {
      said('no answer')
      throw error
    }
  }
}
