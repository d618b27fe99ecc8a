export { executorFailpointPorts } from './failpoint-ports.ts'
export { createExecutorPort } from './executor-port.ts'
export { type ExecutorOptions, type RunningExecutor, startExecutor } from './start-executor.ts'
