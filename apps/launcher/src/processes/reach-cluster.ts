import { askPatiently, certificateHint } from '@tranche/cli'
import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import { type KubeClient, KubeStatusError, type LoadedCluster } from '@tranche/kube-client'
import type { Logger } from '@tranche/telemetry'

/** Timeout of each attempt, in milliseconds. */
const FIRST_ANSWER_MS = 5_000

/** Client, clock, logger and stop signal. */
export interface ReachParts {
  readonly client: Pick<KubeClient, 'text'>
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Waits until the API server answers and accepts the credentials. Logs temporary failures as warnings, and those that a user must fix as
 * errors; after a fix, no restart is needed. Also resolves once `signal` aborts.
 */
export async function reachCluster({ server, context }: LoadedCluster, { client, clock, log, signal }: ReachParts): Promise<void> {
  const where = { server, context }
  let hasFailed = false
  const failed = (err: unknown, retryAfterMs: number): void => {
    hasFailed = true
    const hint = hintFor(err)
    if (hint === undefined) log.warn({ ...where, err, retryAfterMs }, 'the API server did not answer')
    else log.error({ ...where, hint, err, retryAfterMs }, 'cannot authenticate with the API server')
  }
  const ask = (): Promise<string> => client.text('/version', { deadlineMs: FIRST_ANSWER_MS, signal })
  try {
    await askPatiently(ask, { clock, signal, mayPass: isAppError, failed })
    if (hasFailed) log.info(where, 'the API server answered')
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** @returns the fix for the user; undefined for temporary failures, such as a starting or overloaded server */
function hintFor(error: unknown): string | undefined {
  if (error instanceof KubeStatusError)
    return error.status === 429 || error.status >= 500
      ? undefined
      : 'Check the credentials of the kubeconfig, or the service account of the pod.'
  return certificateHint(error)
}
