import { durationMs, type SimFault } from '@tranche/api-schema'
import {
  ApiStatusError,
  type FaultCall,
  type FaultEvent,
  type FaultInjector,
  type Random,
  type RequestFault,
  type WatchFault,
} from '@tranche/sim-api'
import { eventMatcher, requestMatcher } from './match.ts'

/** Faults that meet requests. */
export type RequestRule = Extract<SimFault, { readonly kind: 'Error' | 'Cut' | 'Delay' }>
/** Faults that meet the events of watches. */
export type EventRule = Extract<SimFault, { readonly kind: 'WatchDelay' | 'WatchStall' | 'WatchCut' | 'WatchExpire' }>

/** Whether a fault waits for requests or events, rather than doing something by itself. */
export function isRule(fault: SimFault): fault is RequestRule | EventRule {
  return isRequestRule(fault) || isEventRule(fault)
}

/** What a rule is made with. */
export interface RuleOptions {
  readonly fault: RequestRule | EventRule
  /** Stands in the message of injected errors. */
  readonly id: string
  /** Decides where a probability is given. */
  readonly random: Random
  /** Told of every request or event that the rule met, before what it does to it. */
  readonly onHit: (met: FaultCall | FaultEvent) => void
}

/** @returns an injector of this one fault; it meets at most `count` requests or events */
export function createRule(options: RuleOptions): FaultInjector {
  const { fault, id } = options
  const isDrawn = createDraw(options)
  if (isEventRule(fault)) {
    const matches = eventMatcher(fault)
    const watchFault = watchFaultOf(fault)
    return { onEvent: (event) => (matches(event) && isDrawn(event) ? watchFault : undefined) }
  }
  const matches = requestMatcher(fault)
  const requestFault = requestFaultOf(fault, id)
  return { onRequest: (call) => (matches(call) && isDrawn(call) ? requestFault : undefined) }
}

function createDraw({ fault, random, onHit }: RuleOptions): (met: FaultCall | FaultEvent) => boolean {
  const { probability = 1, count = Number.POSITIVE_INFINITY } = fault
  let hits = 0
  return (met) => {
    if (hits >= count || (probability < 1 && random.next() >= probability)) return false
    hits++
    onHit(met)
    return true
  }
}

function isRequestRule({ kind }: SimFault): boolean {
  return kind === 'Error' || kind === 'Cut' || kind === 'Delay'
}

/** Whether a fault waits for the events of watches. */
export function isEventRule(fault: SimFault): fault is EventRule {
  return fault.kind === 'WatchDelay' || fault.kind === 'WatchStall' || fault.kind === 'WatchCut' || fault.kind === 'WatchExpire'
}

/** Reasons as the API server gives them. */
const reasons = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
} as const

function requestFaultOf(fault: RequestRule, id: string): RequestFault {
  switch (fault.kind) {
    case 'Error': {
      // The words of a lost race, as the API server says them.
      if (fault.status === 409) return { kind: 'conflict' }
      const retryAfterSeconds = fault.retryAfter === undefined ? undefined : Math.ceil(durationMs(fault.retryAfter) / 1000)
      const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds }
      return { kind: 'error', error: new ApiStatusError(fault.status, reasons[fault.status], `injected by the fault ${id}`, details) }
    }
    case 'Cut':
      return { kind: 'cut', when: fault.when }
    case 'Delay':
      return { kind: 'delay', ms: durationMs(fault.by), when: fault.when ?? 'before' }
    default:
      return fault satisfies never
  }
}

function watchFaultOf(fault: EventRule): WatchFault {
  switch (fault.kind) {
    case 'WatchDelay':
      return { kind: 'delay', ms: durationMs(fault.by) }
    case 'WatchStall':
      return { kind: 'stall', ms: durationMs(fault.by) }
    case 'WatchCut':
      return { kind: 'cut' }
    case 'WatchExpire':
      return { kind: 'gap' }
    default:
      return fault satisfies never
  }
}
