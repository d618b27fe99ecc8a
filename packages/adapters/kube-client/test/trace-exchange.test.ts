import { traceExchange } from '@tranche/kube-client'
import { noSpan, noTracer, type SpanAttributes, type SpanOptions, type Tracer } from '@tranche/telemetry'
import type { Exchange } from '@tranche/wire'
import { describe, expect, it } from 'vitest'
import { answer } from './fake-api-server.ts'

const { signal } = new AbortController()

describe('the span of a request', () => {
  it.each([
    ['PATCH', '/api/v1/namespaces/demo/pods/agent-x?fieldManager=t', 'PATCH pods'],
    ['PATCH', '/apis/rollouts.kruise.io/v1beta1/namespaces/demo/rollouts/agent/status', 'PATCH rollouts/status'],
    ['POST', '/api/v1/namespaces/demo/events', 'POST events'],
    ['PUT', '/apis/apps/v1/daemonsets', 'PUT daemonsets'],
    ['POST', '/api/v1/namespaces', 'POST namespaces'],
    ['DELETE', '/api/v1/namespaces/demo', 'DELETE namespaces'],
    ['POST', '/version', 'POST other'],
  ])('%s %s is named %s', async (method, path, name) => {
    const { send, spans } = traced(200)
    await send(method, path)
    expect(spans).toEqual([
      {
        name,
        kind: 'client',
        attributes: { 'http.request.method': method, 'url.path': path.split('?')[0], 'http.response.status_code': 200 },
        failures: [],
      },
    ])
  })

  it.each([
    [422, []],
    [499, []],
    [500, ['answered with 500']],
  ])('is failed if the API server fails: %i', async (status, want) => {
    const { send, spans } = traced(status)
    expect(await send('PATCH', '/api/v1/nodes/a')).toMatchObject({ status })
    expect(spans.map(({ failures }) => failures)).toEqual([want])
  })

  it('does not exist for a read, or if tracing is off', async () => {
    const { send, spans } = traced(200)
    expect(await send('GET', '/api/v1/pods')).toMatchObject({ status: 200 })
    expect(spans).toEqual([])
    const exchange: Exchange = async () => answer(200, {})
    expect(traceExchange(exchange, noTracer)).toBe(exchange)
  })
})

function traced(status: number) {
  const spans: {
    readonly name: string
    readonly kind: unknown
    readonly attributes: SpanAttributes
    readonly failures: readonly string[]
  }[] = []
  const tracer: Tracer = {
    ...noTracer,
    isOn: true,
    inside(name: string, { kind, attributes }: SpanOptions, run) {
      const seen = { name, kind, attributes: { ...attributes }, failures: [] as string[] }
      spans.push(seen)
      return run({
        ...noSpan,
        set: (more) => void Object.assign(seen.attributes, more),
        fail: (error) => void seen.failures.push((error as Error).message),
      })
    },
  }
  const exchange = traceExchange(async () => answer(status, {}), tracer)
  return { spans, send: (method: string, path: string) => exchange({ method, path, headers: {} }, signal) }
}
