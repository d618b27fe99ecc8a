import type { ServerResponse } from 'node:http'
import type { PortOptions } from '../options/port-options.ts'
import { type MonitoringServer, openMonitoringServer } from './listen.ts'
import type { ProgramHealth } from './program-health.ts'

/**
 * Serves health probes. `GET /healthz` is 200 while the process responds. `GET /readyz` is 200 once every program has its first lists of
 * the cluster and Redis, if configured, was reached. A standby controller is ready, since it can take over at once; the answer shows which
 * one leads.
 *
 * @param programs health by name, evaluated for each request
 * @throws {AppError} PORT_IN_USE
 */
export function startHealth(options: PortOptions, programs: ReadonlyMap<string, ProgramHealth>): Promise<MonitoringServer> {
  return openMonitoringServer({ ...options, option: '--health-port' }, ({ method, url }, response) => {
    if (method !== 'GET' && method !== 'HEAD') return answer(response, 405, { status: 'only GET is answered' })
    const path = url?.split('?')[0]
    if (path === '/healthz') return answer(response, 200, { status: 'ok' })
    if (path !== '/readyz') return answer(response, 404, { status: 'there are /healthz and /readyz' })
    const waiting = [...programs].find(([, program]) => !program.isReady())?.[0]
    answer(response, waiting === undefined ? 200 : 503, {
      status: statusFor(waiting),
      programs: Object.fromEntries([...programs].map(([name, program]) => [name, wordFor(program)])),
    })
  })
}

function statusFor(waiting: string | undefined): string {
  if (waiting === undefined) return 'ok'
  return waiting === 'redis' ? 'waiting for Redis' : 'waiting for the first lists of the cluster'
}

function wordFor({ isReady, isLeading, says }: ProgramHealth): string {
  if (says !== undefined) return says()
  if (!isReady()) return 'starting'
  if (isLeading === undefined) return 'ready'
  return isLeading() ? 'leading' : 'standing by'
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(`${JSON.stringify(body)}\n`)
}
