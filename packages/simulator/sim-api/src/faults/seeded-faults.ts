import { createRandom, type Random } from '../model/random.ts'
import { ApiStatusError } from '../model/status-error.ts'
import type { FaultInjector, RequestFault, WatchFault } from './faults.ts'

/** Rates of faults. */
export interface SeededFaultsOptions {
  readonly seed: number
  /** Share of requests with a fault, 0 to 1. */
  readonly requests: number
  /** Share of watch events preceded by a fault, 0 to 1. */
  readonly events: number
  /** Longest delay and stall, in milliseconds. */
  readonly mostDelayMs: number
  /** @returns whether requests and watches of this actor may have faults. @default all may */
  readonly applies?: (actor: string) => boolean
}

/**
 * Selects faults by seed. The fault of a request depends only on the seed, the actor and the request's number, so actors do not influence
 * each other.
 */
export function createSeededFaults(options: SeededFaultsOptions): FaultInjector {
  const { seed, requests, events, mostDelayMs, applies = () => true } = options
  return {
    onRequest({ actor, count }) {
      const random = createRandom(seed, 'request', actor, count)
      return applies(actor) && random.next() < requests ? requestFault(random, mostDelayMs) : undefined
    },
    onEvent({ actor, watch, event }) {
      const random = createRandom(seed, 'event', actor, watch, event)
      return applies(actor) && random.next() < events ? watchFault(random, mostDelayMs) : undefined
    },
  }
}

function requestFault(random: Random, mostDelayMs: number): RequestFault {
  const when = random.next() < 0.5 ? 'before' : 'after'
  switch (random.integer(4)) {
    case 0:
      return { kind: 'error', error: new ApiStatusError(500, 'InternalError', 'an injected fault') }
    case 1:
      return { kind: 'conflict' }
    case 2:
      return { kind: 'delay', ms: random.integer(mostDelayMs + 1), when }
    default:
      return { kind: 'cut', when }
  }
}

function watchFault(random: Random, mostDelayMs: number): WatchFault {
  const ms = random.integer(mostDelayMs + 1)
  switch (random.integer(4)) {
    case 0:
      return { kind: 'cut' }
    case 1:
      return { kind: 'gap' }
    case 2:
      return { kind: 'delay', ms }
    default:
      return { kind: 'stall', ms }
  }
}
