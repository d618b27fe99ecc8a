import type { PortCalls } from '@tranche/crash-points'
import type { ExecutorPort } from '@tranche/partition-executor'
import type { JobQueue } from '@tranche/queue'

/** The calls by which an executor reads and writes, by the names of their crash points. */
export const executorCrashPorts = {
  executor: {
    read: 'value',
    writeRecord: 'promise',
    deletePod: 'promise',
    touchPod: 'promise',
    readPod: 'promise',
    readNode: 'promise',
  },
  queue: { enqueue: 'promise', process: 'value' },
} as const satisfies { readonly executor: PortCalls<ExecutorPort>; readonly queue: PortCalls<Pick<JobQueue, 'enqueue' | 'process'>> }
