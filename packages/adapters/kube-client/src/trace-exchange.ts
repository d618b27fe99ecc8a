import type { Tracer } from '@tranche/tracing'
import type { Exchange, WireRequest } from '@tranche/wire'

/**
 * Tells of each write that is sent to the API server inside a span: one try of it. Reads and watches are not told. What is sent and
 * answered stays as it is.
 *
 * @returns the exchange itself where nothing is told
 */
export function traceExchange(exchange: Exchange, tracer: Tracer): Exchange {
  if (!tracer.isOn) return exchange
  return (request, signal) => {
    if (request.method === 'GET') return exchange(request, signal)
    const [path = ''] = request.path.split('?', 1)
    const attributes = { 'http.request.method': request.method, 'url.path': path }
    return tracer.inside(`${request.method} ${resourceOf(request)}`, { kind: 'client', attributes }, async (span) => {
      const response = await exchange(request, signal)
      span.set({ 'http.response.status_code': response.status })
      if (response.status >= 500) span.fail(new Error(`answered with ${response.status}`))
      return response
    })
  }
}

/** Plural of the resource, and the subresource behind a slash; `other` for what is none. */
function resourceOf({ path }: WireRequest): string {
  const [route = ''] = path.split('?', 1)
  const found = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/(?=.))?([^/]+)(?:\/[^/]+(\/[^/]+)?)?/.exec(route)
  const [, resource = 'other', subresource = ''] = found ?? []
  return `${resource}${subresource}`
}
