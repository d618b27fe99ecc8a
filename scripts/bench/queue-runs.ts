/** Measures the job queue: latency of a job, and cost of an idle queue. */
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../packages/words/clock/src/index.ts'
import { createInProcessQueue, type JobQueue } from '../../packages/ports/queue/src/index.ts'
import { createBullmqQueue, type RedisSettings } from '../../packages/adapters/queue-bullmq/src/index.ts'
import { findRedis, startRedis } from '../redis-server.ts'
import { within } from './until.ts'

const JOBS = 1_000
const EXECUTORS = 4
/** Long enough for every timer of an idle queue to fire twice. */
const IDLE_MS = 20_000

/** @returns median milliseconds from enqueuing a key to the start of its run, in one process */
export async function inProcessLatency(): Promise<number> {
  const queue = createInProcessQueue({ clock: systemClock })
  return medianLatency(queue, queue)
}

/** @returns the same with Redis, from one connection to another */
export function redisLatency(): Promise<number> {
  return onRedis(async (redis) => {
    const [producer, consumer] = [createBullmqQueue({ redis, clock: systemClock }), createBullmqQueue({ redis, clock: systemClock })]
    return medianLatency(producer, consumer)
  })
}

/** @returns commands per second that Redis executes for four idle executors, including commands in scripts */
export function idleCommands(): Promise<number> {
  return onRedis(async (redis, port) => {
    const queues = Array.from({ length: EXECUTORS }, () => createBullmqQueue({ redis, clock: systemClock }))
    for (const queue of queues) queue.process(async () => ({ kind: 'awaitChange' }), { concurrency: 4 })
    await Promise.all(queues.map((queue) => queue.stats()))
    const before = commandsProcessed(port)
    await sleep(IDLE_MS)
    const after = commandsProcessed(port)
    await Promise.all(queues.map((queue) => queue.close(0)))
    return (after - before) / (IDLE_MS / 1000)
  })
}

function commandsProcessed(port: number): number {
  const stats = execFileSync('redis-cli', ['-p', String(port), 'INFO', 'stats'], { encoding: 'utf8' })
  return Number(/total_commands_processed:(\d+)/.exec(stats)?.[1])
}

async function medianLatency(producer: JobQueue, consumer: JobQueue): Promise<number> {
  const latencies: number[] = []
  let enqueuedMs = 0
  let onStart = (): void => {}
  consumer.process(
    async () => {
      latencies.push(performance.now() - enqueuedMs)
      onStart()
      return { kind: 'awaitChange' }
    },
    { concurrency: 4 },
  )
  for (let job = 0; job < JOBS; job++) {
    const started = new Promise<void>((resolve) => (onStart = resolve))
    enqueuedMs = performance.now()
    void producer.enqueue(`bench/${job}`)
    await started
    // The next job must find an idle queue.
    while ((await consumer.stats()).active > 0);
  }
  await Promise.all([producer.close(0), consumer.close(0)])
  return latencies.sort((a, b) => a - b)[JOBS / 2] ?? Number.NaN
}

async function onRedis(measure: (redis: RedisSettings, port: number) => Promise<number>): Promise<number> {
  const found = await findRedis()
  if ('missing' in found) throw new Error(found.missing)
  const server = await startRedis({ program: found.program })
  try {
    const address = { kind: 'server', host: '127.0.0.1', port: server.port } as const
    const access = { database: 0, username: undefined, password: undefined, sentinelPassword: undefined, tls: null }
    return await within('the queue on Redis to be measured', measure({ address, ...access }, server.port), { withinSeconds: 120 })
  } finally {
    await server.dispose()
  }
}
