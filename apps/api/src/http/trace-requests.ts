import type { Span, Tracer } from '@tranche/telemetry'
import type { FastifyRequest } from 'fastify'
import type { ApiServer } from './create-server.ts'

/**
 * Exports a server span for every authorized request, as a child of its `traceparent`. Skips probes, metrics and streams. Must be
 * called before routes are registered.
 */
export function traceRequests(app: ApiServer, tracer: Tracer): void {
  if (!tracer.isOn) return
  const spans = new WeakMap<FastifyRequest, Span>()
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { method, id, headers } = request
    const route = request.routeOptions.url ?? ''
    if (!route.startsWith('/api/') || route.endsWith('/stream')) return done()
    const attributes = { 'http.request.method': method, 'http.route': route, 'tranche.request_id': id }
    const { traceparent } = headers
    const after = typeof traceparent === 'string' ? traceparent : undefined
    void tracer.begin(`${method} ${route}`, { kind: 'server', after, attributes }, (span) => {
      spans.set(request as FastifyRequest, span)
      const closed = Promise.withResolvers<void>()
      reply.raw.once('close', () => {
        span.set({ 'http.response.status_code': reply.statusCode })
        if (reply.statusCode >= 500) span.fail(new Error(`answered with ${reply.statusCode}`))
        closed.resolve()
      })
      done()
      return closed.promise
    })
  })
  // Reading the body runs in callbacks of the socket, outside the context of the span.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request as FastifyRequest)
    if (span === undefined) done()
    else span.within(done)
  })
}
