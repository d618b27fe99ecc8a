import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import { type KubeClient, KubeStatusError, type LoadedCluster } from '@tranche/kube-client'
import type { Logger } from '@tranche/log'
import { askPatiently } from './ask-patiently.ts'
import { certificateHint } from './certificate-hint.ts'

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
 * Waits until an API server answers and lets us in, and says in the log what keeps it from that: as a warning what passes by itself, as an
 * error what somebody must mend. Whoever mends it need start nothing anew. Resolves as well once `signal` aborts.
 */
export async function reachCluster({ server, context }: LoadedCluster, { client, clock, log, signal }: ReachParts): Promise<void> {
  const where = { server, context }
  let hasFailed = false
  const failed = (err: unknown, retryAfterMs: number): void => {
    hasFailed = true
    const hint = hintFor(err)
    if (hint === undefined) log.warn({ ...where, err, retryAfterMs }, 'the API server did not answer')
    else log.error({ ...where, hint, err, retryAfterMs }, 'the API server and this process do not trust each other')
  }
  const ask = (): Promise<string> => client.text('/version', { deadlineMs: FIRST_ANSWER_MS, signal })
  try {
    await askPatiently(ask, { clock, signal, mayPass: isAppError, failed })
    if (hasFailed) log.info(where, 'the API server answered')
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** @returns what somebody has to do; undefined where it may pass by itself, as of a server that starts or has too much to do */
function hintFor(error: unknown): string | undefined {
  if (error instanceof KubeStatusError)
    return error.status === 429 || error.status >= 500 ? undefined : 'Check the credentials of the kubeconfig, or the account of the pod.'
  return certificateHint(error)
}
