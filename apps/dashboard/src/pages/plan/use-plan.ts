import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import type { Forecast } from '@tranche/api-schema'
import { sleep, systemClock } from '@tranche/clock'
import { textOfKey } from '../../live/release-store.ts'
import { usePorts } from '../../ports/dashboard-ports.ts'
import { type PlanInputs, requestOf } from './plan-inputs.ts'
import { runPlan } from './run-plan.ts'

/** A forecast, and the moment that it starts from. */
export interface DatedForecast {
  readonly forecast: Forecast
  /** Server time in epoch milliseconds. */
  readonly atMs: number
  /** State of the Rollout at that moment; undefined if it was not known. */
  readonly resourceVersion: string | undefined
}

/** One plan on the screen. */
export interface PlanState {
  readonly result: DatedForecast | undefined
  readonly error: Error | null
  readonly isRunning: boolean
  run(): void
  cancel(): void
}

/**
 * Reads a forecast once. It is not renewed by itself, because it is expensive for the server.
 *
 * @param isEnabled false: waits, because the server runs one forecast of a user at a time
 */
export function usePlan(rollout: ApiKey, inputs: PlanInputs, isEnabled: boolean): PlanState {
  const { api, nowMs, releases } = usePorts()
  const client = useQueryClient()
  const request = requestOf(inputs)
  const queryKey = ['plan', rollout.namespace, rollout.name, request]
  const { data, error, isFetching, refetch } = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<DatedForecast> => {
      const atMs = nowMs()
      const resourceVersion = releases.snapshot().rollouts.get(textOfKey(rollout))?.resourceVersion
      const forecast = await runPlan(rollout, request, { api, signal, wait: (ms) => sleep(systemClock, ms, signal) })
      return { forecast, atMs, resourceVersion }
    },
    enabled: isEnabled,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    retryOnMount: false,
  })
  return {
    result: data,
    error,
    isRunning: isFetching,
    run: () => void refetch(),
    cancel: () => void client.cancelQueries({ queryKey, exact: true }),
  }
}
