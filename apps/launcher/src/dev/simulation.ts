import type { Clock } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'
import type { RecordedWrite } from '@tranche/recording'
import type { Simulator } from '@tranche/sim'
import type { DevAdmission, SimulationOptions } from '../options/simulation-options.ts'
import type { ServerAccess } from './kubeconfig-file.ts'

/** Settings of a simulated cluster. */
export interface SimulationSettings extends Pick<SimulationOptions, 'nodes' | 'speed' | 'seed' | 'watchDelayMs'> {
  readonly clock: Clock
  readonly admission: DevAdmission
  /** Port to listen on; 0 picks a free port, null does not listen. */
  readonly port: number | null
  /** Called with every accepted write, in order. */
  readonly onWrite: (write: RecordedWrite) => void
  /** Called with every accepted write as a line of JSON; undefined if writes are not recorded. */
  readonly record: ((line: string) => void) | undefined
  readonly log: Logger
}

/** A running simulated cluster. */
export interface Simulation {
  readonly simulator: Simulator
  /** @returns a separate connection for one program; its requests carry the program's name @see Simulator */
  readonly exchangeFor: Simulator['exchangeFor']
  /** Address and credentials for other processes; null if it does not listen. */
  readonly access: ServerAccess | null
  close(): Promise<void>
}
