import { Worker } from 'node:worker_threads'
import type { JudgedAnswer, RawOutcome } from '@tranche/analysis'
import type { Clock, Timer } from '@tranche/clock'
import type { JudgePort } from '@tranche/controllers'
import { clipText } from '@tranche/kube-types'
import { createNamespaceSlot } from './namespace-slot.ts'

/** Options of {@link createThreadJudge}. */
export interface ThreadJudgeParts {
  readonly clock: Clock
  /** Time limit per answer, in milliseconds. @default 5,000 */
  readonly longestMs?: number
  /** Memory limit of the thread without the young generation, in MiB. @default 128 */
  readonly mebibytes?: number
}

/** Evaluates answers in a thread, which starts with the first answer. */
export interface ThreadJudge extends JudgePort {
  /** Terminates the thread and rejects pending evaluations. */
  close(): Promise<void>
}

/** Time limit per answer, in milliseconds: the step limit of an evaluation is reached within 1 s, on a busy machine within 3 s. */
const LONGEST_MS = 5_000
/** Memory limit, in MiB: 1 MiB of empty objects, the worst case, needs more than 96 and less than 128. */
const MEBIBYTES = 128
/** Memory limit of the young generation of the thread, in MiB. */
const YOUNG_MEBIBYTES = 16
/** Idle time after which the thread is terminated to free its memory, in milliseconds. */
const IDLE_MS = 60_000

/**
 * Evaluates answers in a thread, because conditions are written by users and must not block the controller. A thread that exceeds its
 * time or memory is terminated, and the next answer starts a new one.
 */
export function createThreadJudge({ clock, longestMs = LONGEST_MS, mebibytes = MEBIBYTES }: ThreadJudgeParts): ThreadJudge {
  const runInSlot = createNamespaceSlot()
  const closed = new AbortController()
  let thread: Worker | null = null
  let idle: Timer | null = null

  const endThread = async (): Promise<void> => {
    const ending = thread
    thread = null
    await ending?.terminate()
  }
  const startThread = (): Worker => {
    const resourceLimits = { maxOldGenerationSizeMb: mebibytes, maxYoungGenerationSizeMb: YOUNG_MEBIBYTES }
    const started = new Worker(workerFile, { resourceLimits })
    // An idle thread must not keep the process alive, and its errors must not crash the process.
    started.unref()
    started.on('error', () => {})
    started.once('exit', () => {
      if (thread === started) thread = null
    })
    return started
  }

  return {
    async judge(namespace, judged, signal) {
      const ending = AbortSignal.any([signal, closed.signal])
      const outcome = await runInSlot(namespace, ending, async () => {
        idle?.cancel()
        thread ??= startThread()
        try {
          const answer = await answerOf(thread, judged, { clock, longestMs, mebibytes, signal: ending })
          idle = clock.setTimer(IDLE_MS, () => void endThread())
          return answer
        } catch (error) {
          await endThread()
          if (error instanceof JudgingError) return { phase: 'Error', message: tooMuchText(judged, error.message) } as const
          throw error
        }
      })
      return (
        outcome ?? {
          phase: 'Error',
          message: 'too many answers of this namespace wait for evaluation; raise interval, or simplify the conditions',
        }
      )
    },
    async close() {
      closed.abort(new Error('the process is stopping'))
      idle?.cancel()
      await endThread()
    },
  }
}

/** `.ts` in the source, `.mjs` in the bundle, where all files share one folder. */
const workerFile = new URL(import.meta.url.endsWith('.ts') ? './judge-worker.ts' : './judge-worker.mjs', import.meta.url)

/** The evaluation exceeded a limit; the message names it. */
class JudgingError extends Error {}

interface Limits {
  readonly clock: Clock
  readonly longestMs: number
  readonly mebibytes: number
  readonly signal: AbortSignal
}

/** @throws {JudgingError} above a limit; the signal's reason; errors of the thread */
async function answerOf(thread: Worker, judged: JudgedAnswer, { clock, longestMs, mebibytes, signal }: Limits): Promise<RawOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<RawOutcome>()
  const onError = (error: Error & { readonly code?: string }): void =>
    reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new JudgingError(`${mebibytes} MiB of memory`) : error)
  const onExit = (): void => reject(new Error('the thread exited without an answer'))
  const onAbort = (): void => reject(signal.reason as Error)
  const timer = clock.setTimer(longestMs, () => reject(new JudgingError(`${longestMs} ms`)))
  thread.once('message', resolve)
  thread.once('error', onError)
  thread.once('exit', onExit)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    signal.throwIfAborted()
    thread.postMessage(judged)
    return await promise
  } finally {
    timer.cancel()
    thread.off('message', resolve).off('error', onError).off('exit', onExit)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Maximum length of a condition in a message, in characters. */
const SHOWN_CONDITION = 60

function tooMuchText({ analysis: { name, failureCondition, successCondition } }: JudgedAnswer, tooMuch: string): string {
  const shown = Object.entries({ failureCondition, successCondition }).flatMap(([field, text]) =>
    text === undefined ? [] : [`${field} "${clipText(text, SHOWN_CONDITION)}"`],
  )
  return `analysis ${name}: ${shown.join(' and ')} took more than ${tooMuch} for this answer: ask for a smaller answer, or loop over less`
}
