import type { PortCalls } from '@tranche/crash-points'
import type { ExecutorPort } from '@tranche/partition-executor'
import type { JobQueue } from '@tranche/queue'

/** The ports through which an executor reads and writes, by the names of their crash points. */
export const executorCrashPorts = {
  executor: { read: 'value', writeRecord: 'promise', deletePod: 'promise', touchPod: 'promise' },
  queue: { announce: 'promise', announceAfter: 'promise', process: 'value', stats: 'promise', close: 'promise' },
} as const satisfies { readonly executor: PortCalls<ExecutorPort>; readonly queue: PortCalls<JobQueue> }
