import type { FakeClock } from '@tranche/clock'
import type { Exchange } from '@tranche/wire'

export const HOUR = 3_600_000
export const signal = new AbortController().signal
export const request = { method: 'GET', path: '/version', headers: {} }

/** A server on another machine: it answers after a while, with its own time in the middle of it. */
export function serverOn(clock: FakeClock, { aheadMs, takesMs = 20 }: { readonly aheadMs: number; readonly takesMs?: number }) {
  const server = { aheadMs, takesMs, dates: true }
  const trueMs = (): number => 1_700_000_000_000 + clock.monotonicMs() + server.aheadMs
  const exchange: Exchange = async () => {
    clock.advance(server.takesMs / 2)
    const date = new Date(trueMs()).toUTCString()
    clock.advance(server.takesMs / 2)
    return { status: 200, headers: server.dates ? { date } : {}, body: (async function* () {})() }
  }
  return { server, exchange, trueMs }
}
