import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { silentLogger } from '@tranche/telemetry'
import { createMeter, createMetrics, type Metrics, observing, waiting, watchLag, whatIsAsked } from '@tranche/metrics'
import type { WireRequest } from '@tranche/wire'
import { beforeEach, describe, expect, it } from 'vitest'

let clock: FakeClock
let metrics: Metrics
beforeEach(async () => {
  clock = new FakeClock(0)
  metrics = await createMetrics({ clock, log: silentLogger, version: '1.2.3' })
})

/** The series of one metric, without its explanation. */
async function series(name: string): Promise<readonly string[]> {
  return (await metrics.text()).split('\n').filter((line) => line.startsWith(name))
}

describe('metrics', () => {
  it('count a value that is not in the catalog as other, so that labels stay bounded', async () => {
    metrics.count('tranche_verdicts_total', { action: 'Pause' })
    metrics.count('tranche_verdicts_total', { action: 'node-17' })
    metrics.count('tranche_verdicts_total', { action: 'node-18' })
    expect(await series('tranche_verdicts_total')).toEqual([
      'tranche_verdicts_total{action="Pause"} 1',
      'tranche_verdicts_total{action="other"} 2',
    ])
  })

  it('count negative time, as after a clock step, as zero', async () => {
    metrics.observe('tranche_batch_seconds', {}, -5)
    expect(await series('tranche_batch_seconds_sum')).toEqual(['tranche_batch_seconds_sum 0'])
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])(
    'ignore a time of %s, which comes from a time of an object that is none',
    async (seconds) => {
      metrics.observe('tranche_batch_seconds', {}, seconds)
      expect(await series('tranche_batch_seconds_count')).toEqual(['tranche_batch_seconds_count 0'])
    },
  )

  it('export the current values of a gauge from every reader, and forget earlier ones', async () => {
    let leads = 1
    const end = metrics.gauge('tranche_queue_keys', () => [{ labels: { queue: 'jobs', state: 'waiting' }, value: 7 }])
    metrics.gauge('tranche_queue_keys', () => [{ labels: { queue: 'rollout', state: 'waiting' }, value: leads }])
    expect(await series('tranche_queue_keys')).toHaveLength(2)
    leads = 0
    end()
    expect(await series('tranche_queue_keys')).toEqual(['tranche_queue_keys{queue="rollout",state="waiting"} 0'])
  })

  it('leave out a gauge reader that throws or is late, and export everything else', async () => {
    metrics.gauge('tranche_leader', () => {
      throw new Error('no')
    })
    metrics.gauge('tranche_queue_keys', () => new Promise(() => {}))
    const reported = metrics.text()
    clock.advance(2_000)
    expect((await reported).split('\n').filter((line) => /^tranche_(leader|queue_keys|build_info)/.test(line))).toEqual([
      'tranche_build_info{version="1.2.3"} 1',
    ])
  })
})

describe('a request is counted', () => {
  it.each([
    ['GET', '/api/v1/pods?limit=500', 'list', 'pods'],
    ['GET', '/api/v1/namespaces/demo/pods/agent-1', 'get', 'pods'],
    ['GET', '/apis/apps/v1/daemonsets?watch=true&resourceVersion=1', 'watch', 'daemonsets'],
    ['GET', '/api/v1/namespaces/demo', 'get', 'namespaces'],
    ['PATCH', '/apis/rollouts.kruise.io/v1beta1/namespaces/demo/batchreleases/a/status?fieldManager=x', 'patch', 'batchreleases'],
    ['POST', '/api/v1/namespaces/demo/events', 'create', 'events'],
    ['PUT', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a', 'update', 'leases'],
    ['DELETE', '/api/v1/namespaces/demo/pods/agent-1', 'delete', 'pods'],
    ['GET', '/version', 'get', 'other'],
    ['GET', '/api/v1/nodes/node-1', 'get', 'nodes'],
  ])('%s %s as %s of %s', (method, path, verb, resource) => {
    expect(whatIsAsked({ method, path, headers: {} })).toEqual({ verb, resource })
  })

  it('by its code, or as without a response; an abandoned request is not counted, unless it was too late', async () => {
    const answers = [async () => answer(200), async () => answer(418), () => Promise.reject(new Error('reset'))]
    const meter = createMeter({ metrics, clock, program: 'executor' })
    const request: WireRequest = { method: 'GET', path: '/api/v1/nodes', headers: {} }
    for (const exchange of answers) await meter(exchange)(request, new AbortController().signal).catch(() => {})
    await expect(meter(() => Promise.reject(new Error('aborted')))(request, AbortSignal.abort())).rejects.toThrow('aborted')
    const late = AbortSignal.abort(new AppError('API_DEADLINE', 'it was not answered within 15000 ms'))
    await expect(meter(() => Promise.reject(new Error('aborted')))(request, late)).rejects.toThrow('aborted')
    const labels = (code: string): string => `tranche_kube_requests_total{program="executor",verb="list",resource="nodes",code="${code}"}`
    expect(await series('tranche_kube_requests_total')).toEqual([`${labels('200')} 1`, `${labels('other')} 1`, `${labels('none')} 2`])
  })
})

describe('a watch', () => {
  it('is silent since its last message, and has no silence before its first', async () => {
    const { promise: next, resolve: send } = Promise.withResolvers<string>()
    const exchange = createMeter({ metrics, clock, program: 'controller' })(async () => ({
      ...answer(200),
      body: (async function* () {
        yield await next
      })(),
    }))
    expect(await series('tranche_watch_silence_seconds')).toEqual([])
    const request = { method: 'GET', path: '/api/v1/pods?watch=true', headers: {} }
    const { body } = await exchange(request, new AbortController().signal)
    clock.advance(30_000)
    const silence = (seconds: number): string[] => [`tranche_watch_silence_seconds{program="controller",resource="pods"} ${seconds}`]
    expect(await series('tranche_watch_silence_seconds')).toEqual(silence(30))
    const reading = body[Symbol.asyncIterator]().next()
    send('event')
    await reading
    expect(await series('tranche_watch_silence_seconds')).toEqual(silence(0))
  })

  it('lags until it shows a write', async () => {
    const { promise: shown, resolve: show } = Promise.withResolvers<void>()
    watchLag(metrics, clock, 'executor').onWritten?.({ resource: 'rollouts', shown })
    clock.advance(250)
    show()
    await shown
    expect(await series('tranche_watch_lag_seconds_sum')).toEqual([
      'tranche_watch_lag_seconds_sum{program="executor",resource="rollouts"} 0.25',
    ])
  })
})

it('without metrics, everything is unchanged', () => {
  const exchange = async () => answer(200)
  expect(createMeter({ metrics: undefined, clock, program: 'controller' })(exchange)).toBe(exchange)
  expect([observing(undefined), waiting(undefined, 'jobs'), watchLag(undefined, clock, 'executor')]).toEqual([{}, {}, {}])
})

function answer(status: number) {
  return { status, headers: {}, body: (async function* () {})() }
}
