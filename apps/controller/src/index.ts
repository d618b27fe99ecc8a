export { controllerCrashPorts } from './crash-ports.ts'
export { createMetricPort, type MetricPortParts } from './metric-port.ts'
export {
  type AdmissionMode,
  type ControllerOptions,
  LEASE_NAME,
  LEASE_NAMESPACE,
  type LeaseTimes,
  type RunningController,
  startController,
} from './start-controller.ts'
