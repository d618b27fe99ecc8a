import type { Clock } from '@tranche/clock'
import type { SimClient } from '@tranche/sim-api'

/** A controller that runs until it is stopped. */
export interface RunningController {
  stop(): void
}

/** Dependencies of a controller of the simulator. */
export interface ControllerOptions {
  /** Client under the controller's own name. */
  readonly client: SimClient
  readonly clock: Clock
  /** Random numbers. */
  readonly seed: string
  /** Called for every failed pass; the controller retries by itself. */
  readonly onError: (error: unknown, key: string) => void
}
