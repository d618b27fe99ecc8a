import type { Clock } from '@tranche/clock'

/** Workers that share one source of jobs. Tracks idle and running workers, and closes them in time; does not look at keys. */
export interface WorkerPool<Handler> {
  open(handler: Handler, concurrency: number): PoolWorker<Handler>
  /** @returns the open worker with the fewest runs and free concurrency; null if there is none */
  free(): PoolWorker<Handler> | null
  /** Closes every worker of the pool. @see PoolWorker.close */
  close(deadlineMs: number): Promise<void>
}

/** One worker of a pool. */
export interface PoolWorker<Handler> {
  /** Runs `job`, which counts against the concurrency until it settles. */
  run<Result>(job: (handler: Handler, signal: AbortSignal) => Promise<Result>): Promise<Result>
  /** Stops taking work; resolves when nothing runs, or at the deadline right after the signals abort. */
  close(deadlineMs: number): Promise<void>
}

/** @returns an empty pool */
export function createWorkerPool<Handler>(clock: Clock): WorkerPool<Handler> {
  const open = new Set<MemberState<Handler>>()
  const closing = new Set<MemberState<Handler>>()
  const retire = (member: MemberState<Handler>): void => {
    if (open.delete(member)) closing.add(member)
  }
  const close = async (member: MemberState<Handler>, deadlineMs: number): Promise<void> => {
    retire(member)
    await endRuns(member, clock, deadlineMs)
    closing.delete(member)
  }
  const toWorker = (member: MemberState<Handler>): PoolWorker<Handler> => ({
    run: (job) => run(member, job),
    close: (deadlineMs) => close(member, deadlineMs),
  })
  return {
    open(handler, concurrency) {
      const member: MemberState<Handler> = { handler, concurrency, running: new Set(), onIdle: new Set() }
      open.add(member)
      return toWorker(member)
    },
    free() {
      const member = leastBusy(open)
      return member === null ? null : toWorker(member)
    },
    async close(deadlineMs) {
      await Promise.all([...open, ...closing].map((member) => close(member, deadlineMs)))
    },
  }
}

interface MemberState<Handler> {
  readonly handler: Handler
  readonly concurrency: number
  readonly running: Set<AbortController>
  readonly onIdle: Set<() => void>
}

function leastBusy<Handler>(members: Iterable<MemberState<Handler>>): MemberState<Handler> | null {
  let best: MemberState<Handler> | null = null
  for (const member of members)
    if (member.running.size < member.concurrency && (best === null || member.running.size < best.running.size)) best = member
  return best
}

async function run<Handler, Result>(
  member: MemberState<Handler>,
  job: (handler: Handler, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  member.running.add(controller)
  try {
    return await job(member.handler, controller.signal)
  } finally {
    member.running.delete(controller)
    if (member.running.size === 0) for (const resolve of member.onIdle) resolve()
  }
}

function endRuns<Handler>(member: MemberState<Handler>, clock: Clock, deadlineMs: number): Promise<void> {
  if (member.running.size === 0) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel()
      member.onIdle.delete(end)
      resolve()
    }
    const timer = clock.setTimer(deadlineMs, () => {
      for (const controller of member.running) controller.abort(new Error('the worker closes'))
      end()
    })
    member.onIdle.add(end)
  })
}
