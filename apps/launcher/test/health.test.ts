import { once } from 'node:events'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { silentLogger } from '@tranche/telemetry'
import { afterEach, describe, expect, it } from 'vitest'
import { followHealth, notYet, type ProgramHealth } from '../src/health/program-health.ts'
import type { MonitoringServer } from '../src/health/listen.ts'
import { startHealth } from '../src/health/start-health.ts'
import { startMetrics } from '../src/health/start-metrics.ts'
import { toHealthOptions, toMetricsOptions } from '../src/options/port-options.ts'

let server: MonitoringServer | undefined
afterEach(() => server?.close())

const host = '127.0.0.1'
const ready: ProgramHealth = { isReady: () => true }

async function ask(path: string, programs: Readonly<Record<string, ProgramHealth>>, method = 'GET') {
  server = await startHealth({ host, port: 0 }, new Map(Object.entries(programs)))
  const response = await fetch(server.url + path, { method })
  return { status: response.status, body: await response.text() }
}

describe('/healthz', () => {
  it('is 200 before the cluster has been read', async () => {
    expect(await ask('/healthz', { controller: notYet })).toEqual({ status: 200, body: '{"status":"ok"}\n' })
  })
})

describe('the server of probes', () => {
  const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'))

  it.skipIf(!hasIpv6)('answers on an IPv6 address', async () => {
    server = await startHealth({ host: '::1', port: 0 }, new Map([['controller', ready]]))
    expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  })
})

describe('/readyz', () => {
  it('is 503 until every program of the process has read the cluster, and names those that have not', async () => {
    const { status, body } = await ask('/readyz', { controller: ready, executor: notYet })
    expect(status).toBe(503)
    expect(JSON.parse(body)).toEqual({
      status: 'waiting for the first lists of the cluster',
      programs: { controller: 'ready', executor: 'starting' },
    })
  })

  it.each([
    [true, 'leading'],
    [false, 'standing by'],
  ])('is 200 whether a controller leads (%s) or not, and reports it as %s', async (leads, word) => {
    const { status, body } = await ask('/readyz', { controller: { ...ready, isLeading: () => leads } })
    expect(status).toBe(200)
    expect(JSON.parse(body)).toEqual({ status: 'ok', programs: { controller: word } })
  })

  it('follows a program: ready with its first lists, never when these fail', async () => {
    const seen = Promise.withResolvers<void>()
    const [followed, failing] = [followHealth({ ready: seen.promise }), followHealth({ ready: Promise.reject(new Error('no')) })]
    expect(followed.isReady()).toBe(false)
    seen.resolve()
    await seen.promise
    expect([followed.isReady(), failing.isReady()]).toEqual([true, false])
  })
})

it('answers nothing else', async () => {
  expect((await ask('/metrics', {})).status).toBe(404)
  await server?.close()
  expect((await ask('/readyz', {}, 'POST')).status).toBe(405)
})

it('answers despite 300 silent connections, and drops the oldest of them', async () => {
  server = await startHealth({ host, port: 0 }, new Map([['controller', ready]]))
  const { port } = new URL(server.url)
  const silent = Array.from({ length: 300 }, () => connect({ host, port: Number(port) }).on('error', () => {}))
  try {
    const dropped = Promise.all(silent.slice(0, 172).map((socket) => once(socket, 'close')))
    await Promise.all(silent.map((socket) => once(socket, 'connect')))
    await dropped
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    expect(silent.filter(({ destroyed }) => !destroyed).length).toBeGreaterThan(100)
  } finally {
    for (const socket of silent) socket.destroy()
  }
})

it('names the port that another program uses', async () => {
  server = await startHealth({ host, port: 0 }, new Map())
  const port = Number(new URL(server.url).port)
  await expect(startHealth({ host, port }, new Map())).rejects.toMatchObject({ code: 'PORT_IN_USE', details: { port } })
})

describe('/metrics', () => {
  const asked = async (text: () => Promise<string>, path = '/metrics', method = 'GET') => {
    server = await startMetrics({ host, port: 0 }, { text, contentType: 'text/plain; version=0.0.4' }, silentLogger)
    const response = await fetch(server.url + path, { method })
    return { status: response.status, type: response.headers.get('content-type'), body: await response.text() }
  }

  it('has the Prometheus text format', async () => {
    const answer = await asked(async () => 'tranche_leader 1\n')
    expect(answer).toEqual({ status: 200, type: 'text/plain; version=0.0.4', body: 'tranche_leader 1\n' })
  })

  it.each([
    ['/', 'GET', 404],
    ['/metrics', 'POST', 405],
  ])('is the only method and path: %s %s returns %i', async (path, method, status) => {
    expect((await asked(async () => '', path, method)).status).toBe(status)
  })

  it('is 500 if the export fails, and the process continues', async () => {
    expect((await asked(() => Promise.reject(new Error('no')))).status).toBe(500)
  })
})

describe('the options', () => {
  it('serve no metrics without a port', () => {
    expect(toMetricsOptions({ metricsHost: host })).toBeNull()
    expect(toMetricsOptions({ metricsHost: '0.0.0.0', metricsPort: '8082' })).toEqual({ host: '0.0.0.0', port: 8082 })
    expect(() => toMetricsOptions({ metricsHost: '0.0.0.0' })).toThrow('--metrics-host requires --metrics-port')
  })

  it('serve nothing unless a port is given', () => {
    expect(toHealthOptions({ healthHost: host })).toBeNull()
    expect(toHealthOptions({ healthHost: '0.0.0.0', healthPort: '8081' })).toEqual({ host: '0.0.0.0', port: 8081 })
  })

  it.each([
    [{ healthHost: '0.0.0.0' }, '--health-host requires --health-port'],
    [{ healthHost: host, healthPort: '70000' }, '--health-port does not take "70000"'],
  ])('refuse %j', (values, message) => {
    expect(() => toHealthOptions(values)).toThrow(message)
  })
})
