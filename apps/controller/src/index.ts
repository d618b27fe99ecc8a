export { type ControllerOptions, LEASE_NAME, LEASE_NAMESPACE, type RunningController, startController } from './start-controller.ts'
