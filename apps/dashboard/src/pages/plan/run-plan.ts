import { type ApiClient, type ApiKey, ApiProblemError } from '@tranche/api-client'
import type { Forecast, ForecastRequest } from '@tranche/api-schema'
import { isAppError } from '@tranche/errors'

/** Dependencies of {@link runPlan}. */
export interface PlanRun {
  readonly api: Pick<ApiClient, 'plan'>
  readonly signal: AbortSignal
  /** Resolves after a time in milliseconds; rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** The server plays the whole release, which takes longer than other requests. */
const DEADLINE_MS = 90_000
/** Attempts while another forecast of the user runs: the server may not have noticed yet that this page cancelled it. */
const MOST_ATTEMPTS = 3
const WAIT_MS = 1_000

/**
 * Asks for a forecast; tries again shortly if another one of the user is still running.
 *
 * @throws as {@link ApiClient.plan}
 */
export async function runPlan(key: ApiKey, request: ForecastRequest, { api, signal, wait }: PlanRun): Promise<Forecast> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await api.plan(key, request, { signal, deadlineMs: DEADLINE_MS })
    } catch (error) {
      if (attempt >= MOST_ATTEMPTS || !isAppError(error) || error.code !== 'RATE_LIMITED') throw error
      await wait((error instanceof ApiProblemError ? error.retryAfterMs : null) ?? WAIT_MS, signal)
    }
  }
}
