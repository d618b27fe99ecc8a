import { sleep } from '@tranche/clock'
import { parseKey } from '@tranche/kube-types'
import { createPass, FOLLOWS_MS, type PassOptions, type PassResult } from './pass.ts'
import { SOONEST_RECHECK_MS } from './reconcile.ts'
import type { WorkQueue } from './work-queue.ts'

/** Settings of {@link createRunner}. */
export interface RunnerOptions extends PassOptions {
  /** Keys as `keyText` of kube-types writes them. Only the runner takes from the queue, and it shuts the queue down at the end. */
  readonly queue: WorkQueue
  /** Number of parallel passes, each for another key (≥ 1). @default 1 */
  readonly workers?: number
}

/** Takes keys from a work queue and runs a pass for each. */
export interface Runner {
  /** Starts taking keys. Call once. */
  start(): void
  /**
   * Stops taking keys. Running passes continue for up to `graceMs` (≥ 0), then their signals abort.
   *
   * @returns once no pass runs, or right after the abort
   */
  stop(graceMs: number): Promise<void>
}

/**
 * @returns a runner, not started. It survives any error of a pass: after `retry` and unknown errors the key returns after its back-off,
 *   after `fixInput` and `giveUp` after `awaitFixRecheckMs` unless a change comes first
 */
export function createRunner(options: RunnerOptions): Runner {
  const stopping = new AbortController()
  const runPass = createPass(options)
  let running: Promise<unknown> = Promise.resolve()
  return {
    start() {
      running = Promise.all(Array.from({ length: options.workers ?? 1 }, () => work(options, runPass, stopping.signal)))
    },
    async stop(graceMs) {
      options.queue.shutDown()
      await endWithin(options, running, graceMs, stopping)
    },
  }
}

/** Maximum number of passes of a worker in a row, before the process does other work: reads its watches, renews its Lease, answers probes. */
const PASSES_IN_A_ROW = 8

async function work({ queue, clock }: RunnerOptions, runPass: ReturnType<typeof createPass>, stop: AbortSignal): Promise<void> {
  let inARow = 0
  for (let key = await queue.get(); key !== null; key = await queue.get()) {
    const after = queue.takeTrace(key)
    comeAgain(queue, key, await runPass({ key: parseKey(key), failures: queue.failures(key), stop, after }))
    queue.done(key)
    inARow = queue.ready === 0 ? 0 : inARow + 1
    if (inARow % PASSES_IN_A_ROW === PASSES_IN_A_ROW - 1) await sleep(clock, 0)
  }
}

function comeAgain(queue: WorkQueue, key: string, result: PassResult): void {
  if (result.kind === 'retry') {
    if (queue.addRateLimited(key) <= FOLLOWS_MS) queue.follow(key, result.next)
    return
  }
  queue.forget(key)
  if (result.kind !== 'recheckAfter' && result.kind !== 'awaitFix') return
  queue.addAfter(key, Math.max(SOONEST_RECHECK_MS, result.ms))
  if (result.ms <= FOLLOWS_MS) queue.follow(key, result.next)
}

function endWithin(options: RunnerOptions, running: Promise<unknown>, graceMs: number, stopping: AbortController): Promise<void> {
  return new Promise((resolve) => {
    const timer = options.clock.setTimer(graceMs, () => {
      stopping.abort(new Error(`${options.name} stops`))
      resolve()
    })
    void running.then(() => {
      timer.cancel()
      resolve()
    })
  })
}
