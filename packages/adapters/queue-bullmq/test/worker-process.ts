/**
 * A worker as a process of its own, for tests that freeze or kill it. Arguments: port of Redis, prefix, then milliseconds
 * for lock and stalled check. Reports every start and abort to its parent; a run continues until it is aborted.
 */
import { systemClock } from '@tranche/clock'
import { createBullmqQueue } from '@tranche/queue-bullmq'

const [port, prefix = '', lockMs, stalledCheckMs] = process.argv.slice(2)
const queue = createBullmqQueue({
  redis: {
    address: { kind: 'server', host: '127.0.0.1', port: Number(port) },
    database: 0,
    username: undefined,
    password: undefined,
    sentinelPassword: undefined,
    tls: null,
  },
  clock: systemClock,
  prefix,
  timing: { lockMs: Number(lockMs), stalledCheckMs: Number(stalledCheckMs) },
})
queue.process(
  (key, signal) => {
    process.send?.({ event: 'started', key })
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        process.send?.({ event: 'aborted', key })
        resolve({ kind: 'awaitChange' })
      }),
    )
  },
  { concurrency: 1 },
)
