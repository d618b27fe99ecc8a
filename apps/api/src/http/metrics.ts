import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { OnReview } from '../auth/remembered-reviews.ts'
import type { ApiServer } from './create-server.ts'

/** Metrics of one API; docs/operations/metrics.md lists the names. No label contains an object of the cluster or a user. */
export interface ApiMetrics {
  readonly onReview: OnReview
  readonly onStream: (what: 'opened' | 'closed' | 'cut') => void
  /** Counts and times the requests of a server. */
  count(app: ApiServer): void
  /** @returns the Prometheus text format */
  text(): Promise<string>
  readonly contentType: string
}

/**
 * Creates metrics in a new registry.
 *
 * @param options `withProcess`: also export CPU and memory of the process, as `process_…` and `nodejs_…`
 */
export function createApiMetrics({ withProcess = false }: { readonly withProcess?: boolean } = {}): ApiMetrics {
  const registry = new Registry()
  if (withProcess) collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const requests = new Counter({
    name: 'tranche_api_requests_total',
    help: 'Number of answered requests.',
    labelNames: ['method', 'route', 'status'],
    registers,
  })
  const seconds = new Histogram({
    name: 'tranche_api_request_seconds',
    help: 'Duration of requests, except streams and requests with ?wait=.',
    labelNames: ['method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers,
  })
  const streams = new Gauge({ name: 'tranche_api_streams', help: 'Number of open streams.', registers })
  const cut = new Counter({
    name: 'tranche_api_streams_cut_total',
    help: 'Number of streams that were disconnected because the client did not read.',
    registers,
  })
  const reviews = new Counter({
    name: 'tranche_api_reviews_total',
    help: 'Number of TokenReviews and SubjectAccessReviews sent to the API server.',
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
