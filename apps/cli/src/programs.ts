import type { ControllerOptions, RunningController } from '@tranche/controller'
import type { ExecutorOptions, RunningExecutor } from '@tranche/executor'

/** A controller or an executor at work. */
export type RunningProgram = RunningController | RunningExecutor

/** Starts a controller; loaded only when one is wanted. */
export async function startController(options: ControllerOptions): Promise<RunningController> {
  const controller = await import('@tranche/controller')
  return controller.startController(options)
}

/** Starts an executor; loaded only when one is wanted. */
export async function startExecutor(options: ExecutorOptions): Promise<RunningExecutor> {
  const executor = await import('@tranche/executor')
  return executor.startExecutor(options)
}
