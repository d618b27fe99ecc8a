import type { Clock } from '@tranche/clock'
import type { SimClient } from '@tranche/sim-api'

/** A controller that runs until it is stopped. */
export interface RunningController {
  stop(): void
}

/** What a controller of the simulator is given. */
export interface ControllerOptions {
  /** Acts under the controller's own name. */
  readonly client: SimClient
  readonly clock: Clock
  /** Decides what is left to chance. */
  readonly seed: string
  /** Told of every failed pass; the controller tries again by itself. */
  readonly onError: (error: unknown, key: string) => void
}
