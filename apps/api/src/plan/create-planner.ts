import { Worker } from 'node:worker_threads'
import type { Forecast, ForecastRequest } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { checkForecast } from '@tranche/forecast'
import { abortable, isNotFound, type KubeClient } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import { readSnapshot } from '@tranche/steering'
import type { Limits } from '../http/limits.ts'
import { createShares } from '../http/shares.ts'
import type { PlanAnswer, PlanOrder } from './plan-order.ts'

/**
 * Tells what a release would do.
 *
 * @throws {AppError} ROLLOUT_NOT_FOUND, FORECAST_INVALID, WORKLOAD_NOT_FOUND; NOT_READY where others wait already, or it takes too long;
 * RATE_LIMITED where the user waits for another; as KubeClient
 */
export type PlanRelease = (order: ForecastOrder, signal: AbortSignal) => Promise<Forecast>

/** A forecast that somebody asks for. */
export interface ForecastOrder {
  readonly key: ObjectKey
  readonly request: ForecastRequest
  /** Name of the user who asks. */
  readonly by: string
}

/** What plans are made with. */
export interface PlannerParts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly limits: Pick<Limits, 'planMs' | 'planNodes' | 'planMebibytes'>
}

/** So many wait while one is made; the next is turned away. */
const WAITING_MAX = 4
/** What short-lived objects of a forecast may take at a time, beside {@link Limits.planMebibytes}. */
const YOUNG_MEBIBYTES = 24

/** Makes one forecast at a time, each in a thread of its own, from what is read afresh: whatever it takes, the server goes on answering. */
export function createPlanner({ client, clock, limits }: PlannerParts): PlanRelease {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const places = createShares(1)

  async function plan({ key, request }: ForecastOrder, signal: AbortSignal): Promise<Forecast> {
    signal.throwIfAborted()
    const snapshot = await readSnapshot(client, key, { nowMs: clock.nowMs(), signal }).catch((error: unknown) => {
      throw isNotFound(error) ? rolloutNotFound(key) : error
    })
    if (snapshot.nodes.length > limits.planNodes)
      throw new AppError('FORECAST_INVALID', `the cluster has ${snapshot.nodes.length} nodes, and ${limits.planNodes} are foretold here`, {
        hint: 'Run tranche plan, which knows no such limit.',
      })
    checkForecast(snapshot, request)
    signal.throwIfAborted()
    return inThread({ snapshot, request }, limits, signal)
  }

  return async (order, signal) => {
    if (waiting > WAITING_MAX)
      throw new AppError('NOT_READY', `${waiting} forecasts are made or waited for already`, { hint: 'Try again in a moment.' })
    const leave = places.take(order.by)
    if (leave === null) throw oneEach(order.by)
    waiting++
    const next = last.then(() => plan(order, signal))
    last = next.catch(() => {})
    // Who goes away while others are served waits no longer, and makes room for the next.
    return abortable(next, signal).finally(() => {
      waiting--
      leave()
    })
  }
}

/** The file beside this one: as source, or as it is bundled. */
const worker = new URL(import.meta.url.endsWith('.ts') ? './plan-worker.ts' : './plan-worker.mjs', import.meta.url)

function inThread(order: PlanOrder, { planMs: longestMs, planMebibytes }: PlannerParts['limits'], signal: AbortSignal): Promise<Forecast> {
  const resourceLimits = { maxOldGenerationSizeMb: planMebibytes, maxYoungGenerationSizeMb: YOUNG_MEBIBYTES }
  const thread = new Worker(worker, { workerData: order, resourceLimits })
  const tooLong = AbortSignal.timeout(longestMs)
  const ending = AbortSignal.any([signal, tooLong])
  return new Promise<Forecast>((resolve, reject) => {
    thread.once('message', (answer: PlanAnswer) => {
      if (answer.kind === 'told') resolve(answer.forecast)
      else reject(new AppError(answer.code, answer.message, answer.hint === undefined ? {} : { hint: answer.hint }))
    })
    thread.once('error', (error: Error & { readonly code?: string }) =>
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? takesTooMuch(order, planMebibytes) : error),
    )
    thread.once('exit', () => reject(new Error('the thread that made a forecast ended without an answer')))
    ending.addEventListener('abort', () => reject(tooLong.aborted ? takesTooLong(longestMs) : (signal.reason as Error)), { once: true })
  }).finally(() => void thread.terminate())
}

function oneEach(username: string): AppError {
  return new AppError('RATE_LIMITED', `a forecast for user ${JSON.stringify(username)} is made or waited for already`, {
    hint: 'Ask again when it is there.',
  })
}

function rolloutNotFound({ namespace, name }: ObjectKey): AppError {
  return new AppError('ROLLOUT_NOT_FOUND', `there is no Rollout ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)}`)
}

function takesTooMuch({ snapshot }: PlanOrder, mebibytes: number): AppError {
  return new AppError(
    'FORECAST_INVALID',
    `a forecast of ${snapshot.nodes.length} nodes takes more than the ${mebibytes} MiB that it may have here`,
    {
      hint: 'Run tranche plan, which knows no such limit, or raise the memory limit of the container.',
    },
  )
}

function takesTooLong(longestMs: number): AppError {
  return new AppError('NOT_READY', `the forecast took longer than ${longestMs / 1000} s`, {
    hint: 'Run tranche plan, which takes the time it needs.',
  })
}
