import type { AnalysisPort, MetricPort, NotifyPort, PinPort, PolicyPort, ReleasePort, RolloutPort } from '@tranche/controllers'
import type { PortCalls } from '@tranche/failpoints'
import type { JobQueue } from '@tranche/queue'
import type { EventPort, LeasePort } from '@tranche/reconcile'

/** Calls with failpoints, by port and method name. */
export const controllerFailpointPorts = {
  rollout: {
    read: 'value',
    releaseExists: 'promise',
    isNewest: 'promise',
    setFinalizer: 'promise',
    setAnnotations: 'promise',
    patchDaemonSet: 'promise',
    createRelease: 'promise',
    updateRelease: 'promise',
    deleteRelease: 'promise',
    writeStatus: 'promise',
  },
  release: {
    read: 'promise',
    readLive: 'promise',
    setFinalizer: 'promise',
    patchDaemonSet: 'promise',
    listDesiredNodes: 'promise',
    listPods: 'promise',
    findPods: 'promise',
    writeRecord: 'promise',
    patchStatus: 'promise',
    touchPod: 'promise',
    labelPod: 'promise',
    readLease: 'promise',
    takeLease: 'promise',
    markLeaving: 'promise',
    deleteLease: 'promise',
    readHolder: 'promise',
  },
  pins: {
    versions: 'value',
    read: 'promise',
    createCopy: 'promise',
    mark: 'promise',
    pin: 'promise',
    touch: 'promise',
    deleteCopy: 'promise',
  },
  analysis: { read: 'value', patchStatus: 'promise' },
  metrics: { ask: 'promise' },
  policy: { read: 'value', examine: 'promise', patchStatus: 'promise' },
  notify: { read: 'value', notify: 'promise', patchStatus: 'promise' },
  lease: { read: 'promise', create: 'promise', update: 'promise' },
  events: { create: 'promise', repeat: 'promise' },
  queue: { enqueue: 'promise', process: 'value' },
} as const satisfies {
  readonly rollout: PortCalls<RolloutPort>
  readonly release: PortCalls<ReleasePort>
  readonly pins: PortCalls<PinPort>
  readonly analysis: PortCalls<AnalysisPort>
  readonly metrics: PortCalls<MetricPort>
  readonly policy: PortCalls<PolicyPort>
  readonly notify: PortCalls<NotifyPort>
  readonly lease: PortCalls<LeasePort>
  readonly events: PortCalls<EventPort>
  readonly queue: PortCalls<Pick<JobQueue, 'enqueue' | 'process'>>
}
