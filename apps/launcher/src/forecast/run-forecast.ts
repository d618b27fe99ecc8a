import type { Forecast } from '@tranche/api-schema'
import type { ForecastRelease } from '@tranche/cli'
import { createSharedClusterCache } from '@tranche/cluster'
import { startController } from '@tranche/controller'
import { startExecutor } from '@tranche/executor'
import { forecast } from '@tranche/forecast'

/** Simulates a release with the programs that would carry it out. */
export function runForecast(...[snapshot, request, options]: Parameters<ForecastRelease>): Promise<Forecast> {
  return forecast(snapshot, request, { createSharedClusterCache, startController, startExecutor }, options)
}
