import type { Clock } from '@tranche/clock'
import { AppError, isAppError } from '@tranche/errors'
import { type KubeClient, KubeStatusError, type LoadedCluster } from '@tranche/kube-client'
import type { Logger } from '@tranche/log'
import { askPatiently } from './ask-patiently.ts'

/** How long an API server may take to answer for the first time, in milliseconds. */
const FIRST_ANSWER_MS = 5_000

/** What reaching an API server takes. */
export interface ReachParts {
  readonly client: Pick<KubeClient, 'text'>
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Waits until an API server answers, and says in the log what keeps it from that. Resolves as well once `signal` aborts.
 *
 * @throws {AppError} API_REFUSED and whatever else does not pass by itself
 */
export async function reachCluster({ server, context }: LoadedCluster, { client, clock, log, signal }: ReachParts): Promise<void> {
  const where = { server, context }
  let isSilent = false
  const failed = (err: unknown, retryAfterMs: number): void => {
    isSilent = true
    log.warn({ ...where, err, retryAfterMs }, 'the API server did not answer')
  }
  try {
    await askPatiently(() => client.text('/version', { deadlineMs: FIRST_ANSWER_MS, signal }), { clock, signal, mayPass, failed })
    if (isSilent) log.info(where, 'the API server answered')
  } catch (error) {
    if (!signal.aborted) throw error instanceof KubeStatusError ? refused(where, error) : error
  }
}

/** One that starts, or has too much to do, says so by a status. */
function mayPass(error: unknown): boolean {
  if (error instanceof KubeStatusError) return error.status === 429 || error.status >= 500
  return isAppError(error) && error.remedy === 'retry'
}

function refused({ server, context }: Pick<LoadedCluster, 'server' | 'context'>, cause: KubeStatusError): AppError {
  return new AppError('API_REFUSED', `the API server ${server} (context ${context}) answers ${cause.status}: ${cause.message}`, {
    details: { server, context },
    hint: 'Check the credentials of the kubeconfig.',
    cause,
  })
}
