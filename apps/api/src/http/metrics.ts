import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { OnReview } from '../auth/remembered-reviews.ts'
import type { ApiServer } from './create-server.ts'

/** What is counted of one API; names stand in docs/rest.md. No label names an object of the cluster or a person. */
export interface ApiMetrics {
  readonly onReview: OnReview
  readonly onStream: (what: 'opened' | 'closed' | 'cut') => void
  /** Counts the requests of a server. */
  count(app: ApiServer): void
  /** @returns all of it, as Prometheus reads it */
  text(): Promise<string>
  readonly contentType: string
}

/**
 * Builds counters that stand at nothing.
 *
 * @param options `withProcess`: also what the process uses of processor and memory, as `process_…` and `nodejs_…`
 */
export function createApiMetrics({ withProcess = false }: { readonly withProcess?: boolean } = {}): ApiMetrics {
  const registry = new Registry()
  if (withProcess) collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const requests = new Counter({
    name: 'tranche_api_requests_total',
    help: 'Requests that were answered.',
    labelNames: ['method', 'route', 'status'],
    registers,
  })
  const seconds = new Histogram({
    name: 'tranche_api_request_seconds',
    help: 'Duration of requests, without streams and without the wait for the answer to an action.',
    labelNames: ['method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers,
  })
  const streams = new Gauge({ name: 'tranche_api_streams', help: 'Streams that are open.', registers })
  const cut = new Counter({ name: 'tranche_api_streams_cut_total', help: 'Streams that were cut off because nobody read them.', registers })
  const reviews = new Counter({
    name: 'tranche_api_reviews_total',
    help: 'Reviews that the API server was asked for.',
    labelNames: ['kind', 'result'],
    registers,
  })
  return {
    onReview: (kind, result) => reviews.inc({ kind, result }),
    onStream(what) {
      if (what === 'opened') streams.inc()
      if (what === 'closed') streams.dec()
      if (what === 'cut') cut.inc()
    },
    count(app) {
      app.addHook('onResponse', async ({ method, routeOptions, query }, { statusCode, elapsedTime }) => {
        const route = routeOptions.url ?? 'none'
        requests.inc({ method, route, status: String(statusCode) })
        const waits = (query as { readonly wait?: number } | undefined)?.wait ?? 0
        if (waits === 0 && !route.endsWith('/stream')) seconds.observe({ method, route }, elapsedTime / 1000)
      })
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
