import type { Exchange } from '@tranche/wire'
import type { ManagedFieldsIn } from './answer-shape.ts'
import type { HttpFront } from './front.ts'

/**
 * An exchange without sockets: the front is called directly, with the token in place. Everything settles by promises, so
 * that a virtual clock sees when nothing is left to do.
 *
 * @param token one of the tokens the front knows
 * @param managedFields in what they are served. Sockets have them everywhere, as every cluster has; who reads 30,000 pods in process
 * is spared what nobody asks for
 */
export function inProcessExchange(front: HttpFront, token: string, managedFields: ManagedFieldsIn = 'single reads'): Exchange {
  const authorization = `Bearer ${token}`
  return (request, signal) => front.handle({ ...request, headers: { ...request.headers, authorization } }, signal, managedFields)
}
