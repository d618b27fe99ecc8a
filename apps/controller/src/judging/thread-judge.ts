import { Worker } from 'node:worker_threads'
import type { JudgedAnswer, RawOutcome } from '@tranche/analysis'
import type { Clock, Timer } from '@tranche/clock'
import type { JudgePort } from '@tranche/controllers'
import { createNamespaceSlot } from './namespace-slot.ts'

/** What judging in a thread is made of. */
export interface ThreadJudgeParts {
  readonly clock: Clock
  /** The longest time for one answer, in milliseconds. @default 5,000 */
  readonly longestMs?: number
  /** What the thread may keep in memory, in MiB, beside the young generation. @default 128 */
  readonly mebibytes?: number
}

/** Judges in a thread, which begins with the first answer and is ended with the judge. */
export interface ThreadJudge extends JudgePort {
  /** Ends the thread. Answers that wait for it are rejected. */
  close(): Promise<void>
}

/** The longest time for one answer: the steps of an evaluation are used up within one second, on a busy machine within three. */
const LONGEST_MS = 5_000
/** An answer of 1 MiB of empty objects, the largest for its size, needs more than 96 and less than 128. */
const MEBIBYTES = 128
/** What short-lived objects of the thread take at a time, in MiB. */
const YOUNG_MEBIBYTES = 16
/** A thread without an answer for this long ends: it holds memory of its own. */
const IDLE_MS = 60_000

/**
 * Judges answers in a thread of their own: conditions are written by users, and whatever one takes, the controller goes on. A thread that takes
 * too much time or memory is ended, and the next answer gets another one.
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
    // The process may end while it waits for a next answer. What ends it beside an answer is no error of the process.
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
          message: 'too many answers of this namespace wait to be judged; raise interval, or simplify the conditions',
        }
      )
    },
    async close() {
      closed.abort(new Error('the process stops'))
      idle?.cancel()
      await endThread()
    },
  }
}

/** As source, or as it is bundled, where all files stand in one folder. */
const workerFile = new URL(import.meta.url.endsWith('.ts') ? './judge-worker.ts' : './judge-worker.mjs', import.meta.url)

/** What an answer took more of than it may. */
class JudgingError extends Error {}

interface Limits {
  readonly clock: Clock
  readonly longestMs: number
  readonly mebibytes: number
  readonly signal: AbortSignal
}

/** @throws {JudgingError} where it takes too much; the signal's reason; what the thread throws */
async function answerOf(thread: Worker, judged: JudgedAnswer, { clock, longestMs, mebibytes, signal }: Limits): Promise<RawOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<RawOutcome>()
  const onError = (error: Error & { readonly code?: string }): void =>
    reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new JudgingError(`${mebibytes} MiB of memory`) : error)
  const onExit = (): void => reject(new Error('a thread ended without an answer'))
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

/** How much of a condition an error shows, in characters. */
const SHOWN_CONDITION = 60

function tooMuchText({ analysis: { name, failureCondition, successCondition } }: JudgedAnswer, tooMuch: string): string {
  const shown = Object.entries({ failureCondition, successCondition }).flatMap(([field, text]) =>
    text === undefined ? [] : [`${field} "${text.length > SHOWN_CONDITION ? `${text.slice(0, SHOWN_CONDITION).toWellFormed()}…` : text}"`],
  )
  return `analysis ${name}: ${shown.join(' and ')} took more than ${tooMuch} for this answer: ask for a smaller answer, or loop over less`
}
