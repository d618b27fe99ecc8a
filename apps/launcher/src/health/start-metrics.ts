import type { ServerResponse } from 'node:http'
import type { Logger } from '@tranche/telemetry'
import type { Metrics } from '@tranche/metrics'
import type { PortOptions } from '../options/port-options.ts'
import { type MonitoringServer, openMonitoringServer } from './listen.ts'

/**
 * Serves `GET /metrics` without authentication.
 *
 * @throws {AppError} PORT_IN_USE
 */
export function startMetrics(options: PortOptions, metrics: Pick<Metrics, 'text' | 'contentType'>, log: Logger): Promise<MonitoringServer> {
  return openMonitoringServer({ ...options, option: '--metrics-port' }, ({ method, url }, response) => {
    if (method !== 'GET' && method !== 'HEAD') return say(response, 405, 'only GET is supported\n')
    if (url?.split('?')[0] !== '/metrics') return say(response, 404, 'not found; metrics are at /metrics\n')
    metrics.text().then(
      (text) => say(response, 200, text, metrics.contentType),
      (error: unknown) => {
        log.error({ err: error }, 'could not export metrics')
        say(response, 500, 'could not export metrics; see the log\n')
      },
    )
  })
}

function say(response: ServerResponse, status: number, text: string, contentType = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text)
}
