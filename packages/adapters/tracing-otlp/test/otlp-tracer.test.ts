import { systemClock } from '@tranche/clock'
import { type LogFields, type Logger, silentLogger, parseTraceContext, type Tracer } from '@tranche/telemetry'
import { createOtlpTracer, type OtlpTracer, readTracingSettings } from '@tranche/tracing-otlp'
import { describe, expect, it } from 'vitest'
import { type Receiver, startReceiver } from './receiver.ts'

const CLOSE_MS = 10_000

describe('exported spans', () => {
  it('leave out idle passes, but not failed ones', async () => {
    const spans = await exportedSpans(async (tracer) => {
      await tracer.begin('idle pass', { ifMoved: true }, async () => tracer.inside('look', { ifMoved: true }, async () => {}))
      await tracer.begin('job', { ifMoved: true }, () =>
        tracer.inside('pass', { ifMoved: true }, () => tracer.inside('PATCH pods', {}, async () => {})),
      )
      await expect(tracer.begin('bad pass', { ifMoved: true }, () => Promise.reject(new TypeError('oh')))).rejects.toThrow('oh')
      expect(() =>
        tracer.begin('thrown', {}, () => {
          throw new Error('ah')
        }),
      ).toThrow('ah')
      await tracer.inside('nothing is active', {}, async () => {})
    })
    expect(spans.map(({ name }) => name)).toEqual(['PATCH pods', 'pass', 'job', 'bad pass', 'thrown'])
    expect(spans.map(({ status }) => status.message)).toEqual([undefined, undefined, undefined, 'oh', 'ah'])
    const [write, pass, job] = spans
    expect([write?.parentSpanId, pass?.parentSpanId]).toEqual([pass?.spanId, job?.spanId])
  })

  it('continue the given trace, and start a new one after an invalid trace', async () => {
    const before = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const spans = await exportedSpans(async (tracer) => {
      tracer.begin('after', { after: before }, () => {})
      for (const after of ['', 'x', '00-00-00-00', '\u0000', `${before};x`]) tracer.begin('own', { after }, () => {})
      tracer.after(before, () => tracer.inside('echo', {}, () => {}))
    })
    expect(spans[0]).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c', parentSpanId: 'b7ad6b7169203331' })
    expect(new Set(spans.slice(1, 6).map(({ traceId }) => traceId)).size).toBe(5)
    expect(spans[6]).toMatchObject({ name: 'echo', parentSpanId: 'b7ad6b7169203331' })
  })

  it('start a new trace that links to the old one after many consecutive passes', async () => {
    const spans = await exportedSpans(async (tracer) => {
      let after: string | undefined
      for (let pass = 0; pass < 70; pass++) after = tracer.begin(`pass ${pass}`, { after }, (span) => span.next())
    })
    const traces = spans.map(({ traceId }) => traceId)
    expect(new Set(traces).size).toBe(3)
    const begin = traces.lastIndexOf(traces[0]!) + 1
    expect(spans[begin]?.links).toMatchObject([{ traceId: traces[0], spanId: spans[begin - 1]?.spanId }])
  })

  it('do not include late work in an ended span', async () => {
    await exportedSpans(async (tracer) => {
      let late: (() => string | undefined) | undefined
      tracer.begin('pass', { ifMoved: true }, (span) => {
        late = () => span.within(() => tracer.current())
        expect(late()).toBeDefined()
        expect(span.next()).toBeUndefined()
      })
      expect(late?.()).toBeUndefined()
    })
  })

  it('are protobuf by default, under the path of the specification', async () => {
    await using receiver = await startReceiver(() => 200)
    const { tracer, close } = await tracerFor(receiver, {})
    const traceId = tracer.begin('one', { attributes: { 'k8s.pod.name': 'agent-x' } }, () => parseTraceContext(tracer.current())?.traceId)
    await close(CLOSE_MS)
    const [message] = receiver.messages
    expect(message).toMatchObject({ path: '/v1/traces', type: 'application/x-protobuf' })
    for (const part of [Buffer.from(traceId!, 'hex'), 'one', 'agent-x', 'service.instance.id'])
      expect(message?.body.includes(part)).toBe(true)
  })

  it('are dropped by the sampler, and the log gets no trace', async () => {
    await using receiver = await startReceiver(() => 200)
    const { tracer, close } = await tracerFor(receiver, { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' })
    expect(tracer.begin('one', {}, () => [tracer.traceId(), parseTraceContext(tracer.current())?.isSampled])).toEqual([undefined, false])
    await close(CLOSE_MS)
    expect(receiver.messages).toEqual([])
  })
})

describe('a receiver', () => {
  it('that rejects spans costs one log line, and another when it accepts them again', async () => {
    let isWell = false
    await using receiver = await startReceiver(() => (isWell ? 200 : 400))
    const lines: (LogFields & { readonly message: string })[] = []
    const sender = await tracerFor(receiver, { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1', OTEL_BSP_SCHEDULE_DELAY: '0' }, logTo(lines))
    for (let nth = 1; nth <= 3; nth++) {
      sender.tracer.begin('lost', {}, () => {})
      await until(() => receiver.messages.length === nth)
    }
    isWell = true
    sender.tracer.begin('sent', {}, () => {})
    await sender.close(CLOSE_MS)
    expect(lines.map(({ message }) => message)).toEqual([
      'could not send traces; retrying without further log lines',
      'sending traces again; some spans were lost',
    ])
    expect(lines).toMatchObject([{ url: `${receiver.url}/v1/traces` }, { spans: 3 }])
  })

  it('that never answers delays neither spans nor shutdown', async () => {
    await using receiver = await startReceiver(() => null)
    const { tracer, close } = await tracerFor(receiver, { OTEL_EXPORTER_OTLP_TIMEOUT: '2000' })
    for (let span = 0; span < 5_000; span++) expect(tracer.begin('pass', {}, () => span)).toBe(span)
    const startMs = performance.now()
    await close(50)
    expect(performance.now() - startMs).toBeLessThan(1_500)
  })

  it('that is unavailable costs only the log line', async () => {
    const lines: (LogFields & { readonly message: string })[] = []
    const settings = readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '300' })!
    const { tracer, close } = await createOtlpTracer({ clock: systemClock, settings, log: logTo(lines), version: '0.1.0', instance: 'x' })
    tracer.begin('pass', {}, () => {})
    await close(CLOSE_MS)
    expect(lines).toHaveLength(1)
  })
})

interface WireSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly status: { readonly message?: string }
  readonly links?: readonly object[]
}

/** Exported spans of `record`, in order of their ends. */
async function exportedSpans(record: (tracer: Tracer) => Promise<void>): Promise<readonly WireSpan[]> {
  await using receiver = await startReceiver(() => 200)
  const { tracer, close } = await tracerFor(receiver, { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' })
  await record(tracer)
  await close(CLOSE_MS)
  return receiver.messages.flatMap(({ body }) => {
    const { resourceSpans } = JSON.parse(body.toString()) as {
      readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[] }[]
    }
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  })
}

function tracerFor(receiver: Receiver, env: Readonly<Record<string, string>>, log: Logger = silentLogger): Promise<OtlpTracer> {
  const settings = readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env })!
  return createOtlpTracer({ clock: systemClock, settings, log, version: '0.1.0', instance: 'test' })
}

function logTo(lines: (LogFields & { readonly message: string })[]): Logger {
  const write = (fields: LogFields, message: string): void => void lines.push({ ...fields, message })
  return { debug: write, info: write, warn: write, error: write, child: () => logTo(lines) }
}

/** Gives way to the sockets until it is true. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}
