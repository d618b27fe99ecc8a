export { forecast, type ForecastOptions } from './forecast.ts'
export type { ControllerPorts, ExecutorPorts, ForecastPrograms, RunningProgram } from './programs.ts'
