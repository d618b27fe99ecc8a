import {
  ApiStatusError,
  createRandom,
  type FaultCall,
  type FaultEvent,
  type FaultInjector,
  type Random,
  type RequestFault,
  type WatchFault,
} from '@tranche/sim-api'
import type { JobFault } from './remote-queue.ts'
import type { ApiOperation } from './schedule.ts'

/** Faults between programs, API server and queue. */
export interface FaultPhases {
  readonly faults: FaultInjector
  /** @returns the fault of the next target published to the queue */
  nextJobFault(): JobFault
  /** The operation is in force until the returned function is called. @param isMeant whether it affects this actor */
  begin(operation: ApiOperation, isMeant: (actor: string) => boolean): () => void
}

/** Longest time that an injected 429 asks its sender to wait. */
const MOST_RETRY_S = 5
/** The same time, and a second for jitter. */
const RETRY_MS = (MOST_RETRY_S + 1) * 1_000

type Front = Extract<ApiOperation, { readonly kind: 'faultPhase' }>
type Lag = Extract<ApiOperation, { readonly kind: 'lag' }>
type BadQueue = Extract<ApiOperation, { readonly kind: 'badQueue' }>

interface InForce {
  readonly operation: ApiOperation
  readonly isMeant: (actor: string) => boolean
}

/**
 * Injects no fault until an operation begins. The fault of a request or an event depends only on the seed, the actor and the number of
 * the request or event.
 *
 * @param noteStall called for every request that its sender will repeat, as decided now
 */
export function createFaultPhases(seed: number, noteStall: (actor: string, forMs: number) => void): FaultPhases {
  const inForce = new Set<InForce>()
  let jobs = 0

  function* of<K extends ApiOperation['kind']>(kind: K, actor: string): Iterable<Extract<ApiOperation, { readonly kind: K }>> {
    for (const { operation, isMeant } of inForce)
      if (operation.kind === kind && isMeant(actor)) yield operation as Extract<ApiOperation, { readonly kind: K }>
  }

  return {
    faults: {
      onRequest(call) {
        for (const front of of('faultPhase', call.actor)) {
          const random = createRandom(seed, 'request', call.actor, call.count)
          if (random.next() >= front.requests) continue
          const fault = requestFault(random, call, front)
          if (fault.kind === 'error' && fault.error.code === 429) noteStall(call.actor, RETRY_MS)
          return fault
        }
        return undefined
      },
      onEvent(event) {
        for (const lag of of('lag', event.actor)) if (isLate(lag, event)) return { kind: 'delay', ms: lag.ms }
        for (const front of of('faultPhase', event.actor)) {
          const random = createRandom(seed, 'event', event.actor, event.watch, event.event)
          if (random.next() < front.events) return watchFault(random, front)
        }
        return undefined
      },
    },
    nextJobFault() {
      const random = createRandom(seed, 'job', ++jobs)
      const [bad] = of('badQueue', '')
      return bad === undefined ? { lost: false, doubled: false, delayMs: 0 } : jobFaultOf(random, bad)
    },
    begin(operation, isMeant) {
      const one = { operation, isMeant }
      inForce.add(one)
      return () => void inForce.delete(one)
    },
  }
}

function isLate({ resource }: Lag, event: FaultEvent): boolean {
  return resource === null || resource === event.resource.resource
}

function jobFaultOf(random: Random, { lost, doubled, mostDelayMs }: BadQueue): JobFault {
  return { lost: random.next() < lost, doubled: random.next() < doubled, delayMs: random.integer(mostDelayMs + 1) }
}

function requestFault(random: Random, { verb }: FaultCall, { mostDelayMs }: Front): RequestFault {
  const when = random.next() < 0.5 ? 'before' : 'after'
  switch (random.integer(7)) {
    case 0:
      return { kind: 'error', error: new ApiStatusError(500, 'InternalError', 'an injected fault') }
    case 1:
      return {
        kind: 'error',
        error: new ApiStatusError(429, 'TooManyRequests', 'an injected fault', { retryAfterSeconds: 1 + random.integer(MOST_RETRY_S) }),
      }
    case 2:
      return { kind: 'error', error: new ApiStatusError(504, 'Timeout', 'an injected fault') }
    case 3:
      // A read is never answered with a conflict.
      return verb === 'get' || verb === 'list' || verb === 'watch' ? { kind: 'cut', when } : { kind: 'conflict' }
    case 4:
      return { kind: 'delay', ms: random.integer(mostDelayMs + 1), when }
    default:
      return { kind: 'cut', when }
  }
}

function watchFault(random: Random, { mostDelayMs }: Front): WatchFault {
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
