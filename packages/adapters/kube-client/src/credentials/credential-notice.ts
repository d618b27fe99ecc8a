import type { Clock } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'
import type { Exchange } from '@tranche/wire'

/** Minimum time between two log lines about rejected credentials, in milliseconds. */
const REPEAT_MS = 60_000
const UNAUTHORIZED = 401

/**
 * Creates a wrapper for the exchanges of one client that logs when the API server rejects its credentials (401). It logs one line at the
 * start, one a minute while it lasts, and one at the end. Callers of the client log such failures at `debug`.
 */
export function createCredentialNotice({ clock, log }: { readonly clock: Clock; readonly log: Logger }): (exchange: Exchange) => Exchange {
  let sinceMs: number | null = null
  let loggedMs = Number.NEGATIVE_INFINITY
  let isLogged = false

  function refused(attempt: string): void {
    const nowMs = clock.monotonicMs()
    sinceMs ??= nowMs
    if (nowMs < loggedMs + REPEAT_MS) return
    loggedMs = nowMs
    isLogged = true
    const hint =
      "Check the token or client certificate of the pod's service account, or of the user in the kubeconfig. The process " +
      'reloads them by itself (docs/operations/credentials.md).'
    log.error({ hint, why: `${attempt} was answered with 401`, awayMs: nowMs - sinceMs }, 'API server does not accept the credentials')
  }

  function accepted(): void {
    if (sinceMs === null) return
    if (isLogged) log.info({ awayMs: clock.monotonicMs() - sinceMs }, 'API server accepts the credentials again')
    isLogged = false
    sinceMs = null
  }

  return (exchange) => async (request, signal) => {
    const response = await exchange(request, signal)
    if (response.status === UNAUTHORIZED) refused(`${request.method} ${request.path.split('?', 1)[0]}`)
    // The server detects some of its own failures before it checks credentials.
    else if (response.status < 500 && response.status !== 429) accepted()
    return response
  }
}
