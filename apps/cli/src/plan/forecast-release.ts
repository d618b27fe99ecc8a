import type { ClusterSnapshot, Forecast, ForecastRequest } from '@tranche/api-schema'
import type { PlannedManifests } from './plan-manifests.ts'

/**
 * Simulates a release on a copy of the cluster. The launcher supplies it, since the simulation runs the controller and the executor.
 *
 * @throws {AppError} FORECAST_INVALID, WORKLOAD_NOT_FOUND
 */
export type ForecastRelease = (snapshot: ClusterSnapshot, request: ForecastRequest, options: ReleaseForecastOptions) => Promise<Forecast>

/** Manifests of the plan, and its progress. */
export interface ReleaseForecastOptions {
  readonly manifests: PlannedManifests
  /** Progress callback with the number of updated nodes. */
  readonly onProgress: (done: number, total: number) => void
}
