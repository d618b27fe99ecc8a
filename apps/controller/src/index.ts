export { type ControllerOptions, type RunningController, startController } from './start-controller.ts'
