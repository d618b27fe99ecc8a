import type { Clock } from '@tranche/clock'
import type { Logger } from '@tranche/log'
import type { RecordedWrite } from '@tranche/recording'
import type { Simulator } from '@tranche/sim'
import type { DevAdmission, SimulationOptions } from '../command-options.ts'
import type { ServerAccess } from './kubeconfig-file.ts'

/** What a simulated cluster is made from. */
export interface SimulationSettings extends Pick<SimulationOptions, 'nodes' | 'speed' | 'seed' | 'watchDelayMs'> {
  readonly clock: Clock
  readonly admission: DevAdmission
  /** Port to listen on, 0 for a free one; null listens nowhere. */
  readonly port: number | null
  /** Hears of every accepted write, in order. */
  readonly onWrite: (write: RecordedWrite) => void
  /** Takes every accepted write as one line of JSON; undefined where nobody records. */
  readonly record: ((line: string) => void) | undefined
  readonly log: Logger
}

/** A simulated cluster at work. */
export interface Simulation {
  readonly simulator: Simulator
  /** @returns a connection of its own for one program; its requests carry the program's name @see Simulator */
  readonly exchangeFor: Simulator['exchangeFor']
  /** How others reach it; null when it listens nowhere. */
  readonly access: ServerAccess | null
  close(): Promise<void>
}
