import { sleep, type Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { Lease } from '@tranche/kube-types'
import type { LeasePort, LeaseSpec, LeaseWatch } from '@tranche/reconcile'

/** Fate of one request: its latency each way, and whether it or its response is lost. */
export interface Journey {
  readonly thereMs: number
  readonly backMs: number
  readonly result: 'answered' | 'requestLost' | 'answerLost' | 'hangs'
}

/** An API server with one Lease, as far as candidates see it. */
export interface LeaseServer {
  /** @param nextJourney asked once for each request */
  connect(nextJourney: () => Journey): LeasePort
  /** @param nextDelayMs called once per change, returns the delay of its report; null: never */
  watchedWith(nextDelayMs: () => number | null): LeaseWatch
  /** The Lease as it stands. */
  lease(): Lease | null
  /** Requests that arrived, reads included. */
  readonly requests: readonly string[]
}

/** Requests go there and back without delay. */
export const faultlessJourney: Journey = { thereMs: 0, backMs: 0, result: 'answered' }

/** @returns a server without a Lease. A write that changes nothing keeps the resourceVersion, as the real one does. */
export function createLeaseServer(clock: Clock): LeaseServer {
  let stored: Lease | null = null
  let version = 0
  const requests: string[] = []
  const watches = new Set<(lease: Lease) => void>()
  const put = (spec: LeaseSpec): Lease => {
    if (stored !== null && JSON.stringify(stored.spec) === JSON.stringify(spec)) return stored
    stored = { metadata: { name: 'leader', namespace: 'tranche', uid: 'u-1', resourceVersion: String(++version) }, spec }
    for (const report of watches) report(stored)
    return stored
  }
  const create = (spec: LeaseSpec): Lease => {
    requests.push('create')
    if (stored !== null) throw new AppError('WRITE_CONFLICT', 'there is a Lease already')
    return put(spec)
  }
  const update = (lease: Lease): Lease => {
    requests.push('update')
    if (stored?.metadata.resourceVersion !== lease.metadata.resourceVersion) throw new AppError('WRITE_CONFLICT', 'the Lease changed')
    return put(lease.spec ?? {})
  }
  const read = (): Lease | null => {
    requests.push('read')
    return stored
  }
  return {
    requests,
    lease: () => stored,
    connect: (nextJourney) => ({
      read: () => travel(clock, nextJourney(), read),
      create: (spec) => travel(clock, nextJourney(), () => create(spec)),
      update: (lease) => travel(clock, nextJourney(), () => update(lease)),
    }),
    watchedWith: (nextDelayMs) => (onSeen, signal) => {
      const report = (lease: Lease): void => {
        const delayMs = nextDelayMs()
        if (delayMs === null) return
        const deliver = (): void => (signal.aborted ? undefined : onSeen(lease))
        if (delayMs === 0) deliver()
        else clock.setTimer(delayMs, deliver)
      }
      watches.add(report)
      if (stored !== null) report(stored)
    },
  }
}

/** Ignores signals on purpose: a request that was aborted may still arrive. */
async function travel<Answer>(clock: Clock, journey: Journey, serve: () => Answer): Promise<Answer> {
  await wait(clock, journey.thereMs)
  if (journey.result === 'requestLost') throw new AppError('API_UNREACHABLE', 'connection refused')
  const answer = settleLater(serve)
  await wait(clock, journey.backMs)
  if (journey.result === 'answerLost') throw new AppError('API_UNREACHABLE', 'connection reset')
  if (journey.result === 'hangs') return new Promise<never>(() => {})
  return answer()
}

function settleLater<Answer>(serve: () => Answer): () => Answer {
  try {
    const answer = serve()
    return () => answer
  } catch (error) {
    return () => {
      throw error
    }
  }
}

async function wait(clock: Clock, ms: number): Promise<void> {
  if (ms > 0) await sleep(clock, ms)
}
