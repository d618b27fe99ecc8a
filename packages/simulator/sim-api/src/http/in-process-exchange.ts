import type { Exchange } from '@tranche/wire'
import type { ManagedFieldsIn } from './answer-shape.ts'
import type { HttpFront } from './front.ts'

/**
 * Exchange without sockets: calls the front directly, with the token set. Everything settles by promises, so a virtual clock sees when
 * nothing is left to do.
 *
 * @param token known to the front
 * @param managedFields responses that contain them. Over sockets all do, as in a cluster; a client that reads 30,000 pods in process avoids
 *   their cost
 */
export function inProcessExchange(front: HttpFront, token: string, managedFields: ManagedFieldsIn = 'single reads'): Exchange {
  const authorization = `Bearer ${token}`
  return (request, signal) => front.handle({ ...request, headers: { ...request.headers, authorization } }, signal, managedFields)
}
