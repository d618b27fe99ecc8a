import type { Exchange, WireRequest } from '@tranche/wire'

/** A request that a program has sent, whatever its result. */
export interface SentRequest {
  readonly identity: string
  /** Method and path, without the query and the names of pods and events; `WATCH` for a watch. */
  readonly what: string
}

/** Requests of programs to the API server. */
export interface RequestLog {
  /** For `StageOptions.tap`. */
  readonly tap: (identity: string, exchange: Exchange) => Exchange
  /** In order, since the last {@link RequestLog.reset}. */
  sent(): readonly SentRequest[]
  /** Forgets all requests so far. */
  reset(): void
}

/** @returns an empty log */
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
