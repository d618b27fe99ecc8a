export { createExecutorPass, type ExecutorParts } from './executor-pass.ts'
export type { ExecutorPort, ExecutorReading } from './executor-port.ts'
