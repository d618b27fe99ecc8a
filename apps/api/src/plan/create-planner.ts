import type { Forecast, ForecastRequest } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { checkForecast } from '@tranche/forecast'
import { isNotFound, type KubeClient } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import { readSnapshot } from '@tranche/release-client'
import { bindingFault } from '@tranche/actions'
import type { Limits } from '../limits/limits.ts'
import { runInThread, threadFile } from '../threads/run-in-thread.ts'
import { createSlot } from '../threads/slot.ts'
import type { PlanAnswer, PlanOrder } from './plan-order.ts'

/**
 * Forecasts a release.
 *
 * @throws {AppError} ROLLOUT_NOT_FOUND, FORECAST_INVALID, WORKLOAD_NOT_FOUND; NOT_READY if too many requests wait, or it takes too long;
 * RATE_LIMITED if another forecast of the user waits; errors of KubeClient
 */
export type PlanRelease = (order: ForecastOrder, signal: AbortSignal) => Promise<Forecast>

/** Request for a forecast. */
export interface ForecastOrder {
  readonly key: ObjectKey
  readonly request: ForecastRequest
  /** User name of the caller. */
  readonly by: string
  /** Whether the user may `get` the DaemonSet; required if it is not bound to the Rollout. */
  readonly mayGet: (daemonSet: ObjectKey) => Promise<boolean>
}

/** Dependencies of {@link createPlanner}. */
export interface PlannerParts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly limits: Pick<Limits, 'planMs' | 'planNodes' | 'planCharacters' | 'planMebibytes'>
}

/** Runs one forecast at a time, from a fresh read of the cluster, in its own thread so that it does not block the server. */
export function createPlanner({ client, clock, limits }: PlannerParts): PlanRelease {
  const runInSlot = createSlot({ one: 'a forecast', many: 'forecasts' })

  async function plan({ key, request, mayGet }: ForecastOrder, signal: AbortSignal): Promise<Forecast> {
    const options = { nowMs: clock.nowMs(), signal, mostCharacters: limits.planCharacters }
    const snapshot = await readSnapshot(client, key, options).catch((error: unknown) => {
      throw isNotFound(error) ? rolloutNotFound(key) : error
    })
    const { rollout, daemonSet } = snapshot
    const fault = daemonSet === undefined ? null : bindingFault(rollout, daemonSet)
    if (fault !== null && !(await mayGet({ namespace: key.namespace, name: rollout.spec.workloadRef.name })))
      throw new AppError('NOT_BOUND', fault.message, { hint: `${fault.fix.charAt(0).toUpperCase()}${fault.fix.slice(1)}.` })
    if (snapshot.nodes.length > limits.planNodes)
      throw new AppError(
        'FORECAST_INVALID',
        `the cluster has ${snapshot.nodes.length} nodes; forecasts of the API are limited to ${limits.planNodes}`,
        {
          hint: 'Run tranche plan, which has no such limit.',
        },
      )
    checkForecast(snapshot, request)
    signal.throwIfAborted()
    return inThread({ snapshot, request }, limits, signal)
  }

  return (order, signal) => runInSlot({ by: order.by, signal }, () => plan(order, signal))
}

const file = threadFile('plan-worker', import.meta.url)

async function inThread(
  order: PlanOrder,
  { planMs: longestMs, planMebibytes }: PlannerParts['limits'],
  signal: AbortSignal,
): Promise<Forecast> {
  const tooLong = AbortSignal.timeout(longestMs)
  const answer = await runInThread<PlanAnswer>({
    file,
    data: order,
    mebibytes: planMebibytes,
    signal: AbortSignal.any([signal, tooLong]),
    takesTooMuch: () => takesTooMuch(order, planMebibytes),
  }).catch((error: unknown) => {
    throw tooLong.aborted ? takesTooLong(longestMs) : error
  })
  if (answer.kind === 'told') return answer.forecast
  throw new AppError(answer.code, answer.message, answer.hint === undefined ? {} : { hint: answer.hint })
}

function rolloutNotFound({ namespace, name }: ObjectKey): AppError {
  return new AppError('ROLLOUT_NOT_FOUND', `there is no Rollout ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)}`)
}

function takesTooMuch({ snapshot }: PlanOrder, mebibytes: number): AppError {
  return new AppError(
    'FORECAST_INVALID',
    `a forecast of ${snapshot.nodes.length} nodes needs more than the limit of ${mebibytes} MiB of memory`,
    {
      hint: 'Run tranche plan, which has no such limit, or raise the memory limit of the container.',
    },
  )
}

function takesTooLong(longestMs: number): AppError {
  return new AppError('NOT_READY', `the forecast took longer than ${longestMs / 1000} s`, {
    hint: 'Run tranche plan, which has no time limit.',
  })
}
