import type { BenchSet } from '../bench-set.ts'
import { idleCommands, inProcessLatency, redisLatency } from '../queue-runs.ts'
import { times } from '../run-script.ts'

/** The job queue, in process and on a real Redis. */
export const queueSet: BenchSet = {
  about: 'The job queue: time from a key that is announced to the start of its handler, and the cost of executors without work.',
  minutes: 2,
  isDefault: true,
  isReported: true,
  isExact: false,
  measure: async ({ runs }) => [
    { name: 'announced to handler, in process, median', unit: 'ms', values: await times(runs, inProcessLatency), limit: { atMost: 0.1 } },
    { name: 'announced to handler, on Redis, median', unit: 'ms', values: await times(runs, redisLatency), limit: { atMost: 1 } },
    { name: 'Redis commands of 4 idle executors', unit: '/s', values: await times(runs, idleCommands), limit: { atMost: 10 } },
  ],
}
