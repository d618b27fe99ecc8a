import { type Clock, sleep } from '@tranche/clock'
import { createInProcessQueue, type JobHandler, type JobOutcome, type JobQueue, type Worker, type WorkerOptions } from '@tranche/queue'
import type { Process } from '../scenarios/process.ts'

/** Fault of one published target. */
export interface JobFault {
  readonly lost: boolean
  readonly doubled: boolean
  readonly delayMs: number
}

/** A queue outside all programs, like one on Redis. */
export interface RemoteQueue {
  /** @returns the end of the queue for one program: it freezes with its process, and its jobs go to another worker after a while */
  endFor(process: Process): JobQueue
}

/** Silence of a worker after which its job goes to another, in milliseconds. */
const LOCK_MS = 30_000
const LOOK_MS = 5_000

/** @param nextFault decides about each published target */
export function createRemoteQueue(clock: Clock, nextFault: () => JobFault): RemoteQueue {
  const queue = createInProcessQueue({ clock })

  async function enqueueAfter(key: string, delayMs: number): Promise<void> {
    const { lost, doubled, delayMs: lateMs } = nextFault()
    if (lost) return
    if (lateMs === 0) await queue.enqueueAfter(key, delayMs)
    else clock.setTimer(lateMs, () => void queue.enqueueAfter(key, delayMs))
    if (doubled) clock.setTimer(lateMs + 1_000, () => void queue.enqueueAfter(key, delayMs))
  }

  return {
    endFor(process) {
      const workers = new Set<Worker>()
      return {
        enqueue: (key) => enqueueAfter(key, 0),
        enqueueAfter,
        process(handler, options) {
          const worker = createRemoteWorker({ queue, clock, process }, handler, options)
          workers.add(worker)
          return worker
        },
        stats: () => queue.stats(),
        async close(deadlineMs) {
          await Promise.all([...workers].map((worker) => worker.close(deadlineMs)))
        },
      }
    },
  }
}

interface Ends {
  readonly queue: JobQueue
  readonly clock: Clock
  readonly process: Process
}

/** A worker that takes no jobs while its process is frozen, and returns to the queue when the process thaws. */
function createRemoteWorker({ queue, clock, process }: Ends, handler: JobHandler, options: WorkerOptions): Worker {
  let closed = false
  let worker: Worker
  const work: JobHandler = async (key, signal) => {
    if (!process.isFrozen()) return underLock({ clock, process }, key, signal, handler)
    void worker.close(0)
    void process.whenThawed().then(open)
    return { kind: 'recheckAfter', ms: 0 }
  }
  function open(): void {
    if (!closed) worker = queue.process(work, options)
  }
  open()
  return {
    close(deadlineMs) {
      closed = true
      return worker.close(deadlineMs)
    },
  }
}

/** Runs the handler until it settles or its process has been silent for too long; after that, another worker may run the job too. */
async function underLock(
  { clock, process }: Omit<Ends, 'queue'>,
  key: string,
  signal: AbortSignal,
  handler: JobHandler,
): Promise<JobOutcome> {
  const lock = new AbortController()
  const run = handler(key, AbortSignal.any([signal, lock.signal]))
  const over = new AbortController()
  const end = (): void => over.abort()
  run.then(end, end)
  const lost = lockLost(clock, process, over.signal).then((): JobOutcome => {
    lock.abort(new Error('the lock of the job was lost'))
    return { kind: 'recheckAfter', ms: 0 }
  })
  return Promise.race([run, lost])
}

/** Never resolves once `over` has aborted. */
async function lockLost(clock: Clock, process: Process, over: AbortSignal): Promise<void> {
  for (let silentMs = 0; silentMs < LOCK_MS; silentMs = process.isFrozen() ? silentMs + LOOK_MS : 0)
    await sleep(clock, LOOK_MS, over).catch(() => new Promise<never>(() => {}))
}
