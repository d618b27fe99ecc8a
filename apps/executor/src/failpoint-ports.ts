import type { PortCalls } from '@tranche/failpoints'
import type { ExecutorPort } from '@tranche/partition-executor'
import type { JobQueue } from '@tranche/queue'

/** Calls with failpoints, by port and method name. */
export const executorFailpointPorts = {
  executor: {
    read: 'value',
    writeRecord: 'promise',
    deletePod: 'promise',
    touchPod: 'promise',
    readPod: 'promise',
    readNodes: 'promise',
    checkNode: 'promise',
    undoPreparation: 'promise',
    renewPreparation: 'promise',
    sweepNodes: 'promise',
  },
  queue: { enqueue: 'promise', process: 'value' },
} as const satisfies { readonly executor: PortCalls<ExecutorPort>; readonly queue: PortCalls<Pick<JobQueue, 'enqueue' | 'process'>> }
