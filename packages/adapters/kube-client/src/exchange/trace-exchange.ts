import type { Tracer } from '@tranche/telemetry'
import type { Exchange, WireRequest } from '@tranche/wire'

/**
 * Traces each write to the API server as a span, one per attempt. Reads and watches are not traced. Requests and responses are unchanged.
 *
 * @returns the exchange itself if tracing is off
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

/** Plural of the resource, with the subresource after a slash; `other` for other paths. */
function resourceOf({ path }: WireRequest): string {
  const [route = ''] = path.split('?', 1)
  const found = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/(?=.))?([^/]+)(?:\/[^/]+(\/[^/]+)?)?/.exec(route)
  const [, resource = 'other', subresource = ''] = found ?? []
  return `${resource}${subresource}`
}
