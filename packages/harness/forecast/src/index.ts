export { checkForecast, forecast, type ForecastOptions } from './forecast.ts'
export type { Manifests } from './planned/planned-change.ts'
export type { ControllerPorts, ExecutorPorts, ForecastPrograms, RunningProgram } from './programs.ts'
