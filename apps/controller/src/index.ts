export { controllerCrashPorts } from './crash-ports.ts'
export {
  type ControllerOptions,
  LEASE_NAME,
  LEASE_NAMESPACE,
  type LeaseTimes,
  type RunningController,
  startController,
} from './start-controller.ts'
