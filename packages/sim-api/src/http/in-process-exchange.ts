import type { Exchange } from '@tranche/wire'
import type { HttpFront } from './front.ts'

/**
 * An exchange without sockets: the front is called directly, with the token in place. Everything settles by promises, so
 * that a virtual clock sees when nothing is left to do.
 *
 * @param token one of the tokens the front knows
 */
export function inProcessExchange(front: HttpFront, token: string): Exchange {
  const authorization = `Bearer ${token}`
  return (request, signal) => front.handle({ ...request, headers: { ...request.headers, authorization } }, signal)
}
