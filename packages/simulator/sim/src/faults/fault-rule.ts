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

/** Faults that apply to requests. */
export type RequestRule = Extract<SimFault, { readonly kind: 'Error' | 'Cut' | 'Delay' }>
/** Faults that apply to watch events. */
export type EventRule = Extract<SimFault, { readonly kind: 'WatchDelay' | 'WatchStall' | 'WatchCut' | 'WatchExpire' }>

/** Whether a fault applies to requests or events, instead of acting once. */
export function isRule(fault: SimFault): fault is RequestRule | EventRule {
  return isRequestRule(fault) || isEventRule(fault)
}

/** Inputs of a rule. */
export interface RuleOptions {
  readonly fault: RequestRule | EventRule
  /** Part of the message of injected errors. */
  readonly id: string
  /** Random numbers for probabilities. */
  readonly random: Random
  /** Called for every matched request or event, before the fault takes effect. */
  readonly onHit: (met: FaultCall | FaultEvent) => void
}

/** @returns injector of this one fault; it matches at most `count` requests or events */
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

/** Whether a fault applies to watch events. */
export function isEventRule(fault: SimFault): fault is EventRule {
  return fault.kind === 'WatchDelay' || fault.kind === 'WatchStall' || fault.kind === 'WatchCut' || fault.kind === 'WatchExpire'
}

/** Reasons of the API server. */
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
      // Message of a write conflict, in the words of the API server.
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
