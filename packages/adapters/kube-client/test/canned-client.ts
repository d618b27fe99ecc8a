import { FakeClock } from '@tranche/clock'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type Logger, silentLogger } from '@tranche/telemetry'
import type { Exchange, WireRequest, WireResponse } from '@tranche/wire'
import { expect } from 'vitest'

/** A client whose requests are answered by these, in turn; an Error is a broken connection. */
export function clientOver(answers: readonly (WireResponse | Error)[], log?: Logger) {
  const requests: WireRequest[] = []
  const left = [...answers]
  const exchange: Exchange = async (request) => {
    requests.push(request)
    const next = left.shift()
    if (next === undefined) throw new Error('no answer is left')
    if (next instanceof Error) throw next
    return next
  }
  return { ...clientWith(exchange, new FakeClock(), log), requests }
}

/** Client over an exchange, on a fake clock. */
export function clientWith(exchange: Exchange, clock = new FakeClock(), log = silentLogger) {
  return { client: createKubeClient({ exchange, clock, userAgent: 'tranche-test/1', log }), clock }
}

/** @returns what a promise rejects with */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  )
}

/** @returns all events of a watch that ends */
export async function collect(client: KubeClient, options: Parameters<KubeClient['watch']>[1]): Promise<unknown[]> {
  const events: unknown[] = []
  for await (const event of client.watch(resourcePaths.pods, options)) events.push(event)
  return events
}

/** Says `text` once, after `afterMs`, then nothing more, ever. */
export async function* endlessBody(clock?: FakeClock, text = '', afterMs = 0): AsyncGenerator<string> {
  if (clock !== undefined) {
    await new Promise<void>((resolve) => clock.setTimer(afterMs, resolve))
    yield text
  }
  await new Promise(() => {})
}
