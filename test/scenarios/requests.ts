import type { Exchange, WireRequest } from '@tranche/wire'

/** One request that a program has sent, whatever came of it. */
export interface SentRequest {
  readonly identity: string
  /** Method and path, without the query and without the names of pods and events; a watch says so. */
  readonly what: string
}

/** What programs send to the API server. */
export interface RequestLog {
  /** For the stage. */
  readonly tap: (identity: string, exchange: Exchange) => Exchange
  /** In order, since the last {@link RequestLog.reset}. */
  sent(): readonly SentRequest[]
  /** Forgets what was sent so far. */
  reset(): void
}

/** @returns a log with nothing in it */
export function createRequestLog(): RequestLog {
  let sent: SentRequest[] = []
  return {
    tap: (identity, exchange) => (request, signal) => {
      sent.push({ identity, what: nameOf(request) })
      return exchange(request, signal)
    },
    sent: () => sent,
    reset: () => void (sent = []),
  }
}

function nameOf({ method, path }: WireRequest): string {
  const [plain = '', query = ''] = path.split('?')
  const verb = new URLSearchParams(query).has('watch') ? 'WATCH' : method
  return `${verb} ${plain.replace(/\/(pods|events)\/.*/, '/$1/*')}`
}
