import type { Simulation, SimulationSettings } from './simulation.ts'

/**
 * Starts a simulated cluster.
 *
 * @throws {AppError} PORT_IN_USE
 */
export async function startSimulation(_settings: SimulationSettings): Promise<Simulation> {
  throw new Error('not wired yet')
}
