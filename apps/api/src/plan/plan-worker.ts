/** Thread entry: runs one forecast and exits. */
import { parentPort, workerData } from 'node:worker_threads'
import { createSharedClusterCache } from '@tranche/cluster'
import { startController } from '@tranche/controller'
import { isAppError } from '@tranche/errors'
import { startExecutor } from '@tranche/executor'
import { forecast } from '@tranche/forecast'
import type { PlanAnswer, PlanOrder } from './plan-order.ts'

const { snapshot, request } = workerData as PlanOrder
parentPort?.postMessage(await answer())

async function answer(): Promise<PlanAnswer> {
  try {
    return { kind: 'told', forecast: await forecast(snapshot, request, { createSharedClusterCache, startController, startExecutor }) }
  } catch (error) {
    if (!isAppError(error)) throw error
    const { code, message, hint } = error
    return { kind: 'refused', code, message, ...(hint !== undefined && { hint }) }
  }
}
