import type { ServerResponse } from 'node:http'
import type { PortOptions } from '../options/port-options.ts'
import { type MonitoringServer, openMonitoringServer } from './listen.ts'
import type { ProgramHealth } from './program-health.ts'

/**
 * Answers `GET /healthz` with 200 as long as the process answers at all, and `GET /readyz` with 200 once every program has seen
 * the cluster, and Redis was reached where there is one: a controller that does not lead is ready, since it can take over at once. Who leads is
 * told beside it.
 *
 * @param programs by name, as they are when somebody asks
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
