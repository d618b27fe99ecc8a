export { controllerFailpointPorts } from './ports/failpoint-ports.ts'
export { createThreadJudge, type ThreadJudge, type ThreadJudgeParts } from './judging/thread-judge.ts'
export type { GroupSettings } from './ports/group-port.ts'
export { createMetricPort, type MetricPortParts } from './ports/metric-port.ts'
export {
  type AdmissionMode,
  type ControllerOptions,
  type LeaseTimes,
  type RunningController,
  startController,
} from './start-controller.ts'
export { createWebhookHandler, type WebhookAnswer, type WebhookHandler, type WebhookHandlerParts } from './webhook/webhook-handler.ts'
export { type RunningChangeObserver, startChangeObserver, type ChangeObserverOptions } from './change-observer/start-change-observer.ts'
export { type RunningWebhook, startWebhook, type WebhookCertificate, type WebhookOptions } from './webhook/start-webhook.ts'
