import { type Clock, sleep } from '@tranche/clock'
import { modifiedMeanwhile } from '../model/errors.ts'
import { type ApiRequest, ConnectionCutError, type WatchRequest } from '../model/request.ts'
import type { FaultCall, FaultInjector, RequestFault } from './faults.ts'

/** Attributes that select a fault: a request, or a request to watch. */
type GatedRequest = Pick<ApiRequest, 'subresource' | 'name'> & WatchRequest & { readonly verb: FaultCall['verb'] }

/**
 * Executes a request with its faults before and after. It rejects with the error of `act`, with the injected error, or with
 * {@link ConnectionCutError}.
 */
export type FaultGate = <T>(request: GatedRequest, act: () => Promise<T>) => Promise<T>

/** @param faults current fault injector, if any */
export function createFaultGate(clock: Clock, faults: () => FaultInjector | undefined): FaultGate {
  const counts = new Map<string, number>()
  return async ({ actor, verb, resource, subresource, namespace, name }, act) => {
    const count = (counts.get(actor.name) ?? 0) + 1
    counts.set(actor.name, count)
    const call: FaultCall = { actor: actor.name, userAgent: actor.userAgent, verb, resource, subresource, namespace, name, count }
    const drawn = faults()?.onRequest?.(call)
    // A watch has no effect that could outlive a lost response, so its faults apply before it opens.
    const fault = drawn !== undefined && verb === 'watch' && 'when' in drawn ? { ...drawn, when: 'before' as const } : drawn
    await before(clock, call, fault)
    const result = await act()
    if (fault?.kind === 'delay' && fault.when === 'after') await sleep(clock, fault.ms)
    if (fault?.kind === 'cut' && fault.when === 'after') throw new ConnectionCutError()
    return result
  }
}

async function before(clock: Clock, call: FaultCall, fault: RequestFault | undefined): Promise<void> {
  if (fault?.kind === 'error') throw fault.error
  if (fault?.kind === 'conflict') throw modifiedMeanwhile(call.resource, call.name ?? '')
  if (fault?.kind === 'cut' && fault.when === 'before') throw new ConnectionCutError()
  if (fault?.kind === 'delay' && fault.when === 'before') await sleep(clock, fault.ms)
}
