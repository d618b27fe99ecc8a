import { systemClock } from '@tranche/clock'
import { silentLogger, parseTraceContext, type Tracer } from '@tranche/telemetry'
import { createOtlpTracer, type OtlpTracer, readTracingSettings } from '@tranche/tracing-otlp'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aSummary, type ApiStage, startTestApi, readsOf } from './fixtures.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'

let sender: OtlpTracer
let stage: ApiStage
let url: string
/** Trace context of each executed action. */
const places: (string | undefined)[] = []
const begun: string[] = []

beforeEach(async () => {
  // No server listens there: exported spans are not checked.
  const settings = readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })!
  sender = await createOtlpTracer({ clock: systemClock, settings, log: silentLogger, version: '0.1.0', instance: 'test' })
  places.length = 0
  begun.length = 0
  stage = await startTestApi(readsOf([aSummary()]), {
    parts: {
      tracer: listing(sender.tracer),
      carryOut: async () => {
        places.push(sender.tracer.current())
        return { id: 'rest-1', type: 'pause', state: 'accepted', message: 'it is written', repeated: false }
      },
    },
  })
  await stage.grant('alice', 'demo', { verbs: ['get', 'pause'] })
  url = await stage.app.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  await stage.end()
  await sender.close(0)
})

it('executes an action in the trace of its request, even if the body arrives in chunks', async () => {
  expect(await pause({ traceparent: `00-${TRACE}-b7ad6b7169203331-01` })).toBe(202)
  expect(places.map((place) => parseTraceContext(place)?.traceId)).toEqual([TRACE])
  expect(begun).toEqual(['POST /api/v1/namespaces/:namespace/rollouts/:name/actions/pause'])
})

it.each(['', 'x', `00-${TRACE}-0000000000000000-01`, 'é'])('starts a new trace if the traceparent is %j', async (traceparent) => {
  expect(await pause({ traceparent: Buffer.from(traceparent).toString('latin1') })).toBe(202)
  const ids = places.map((place) => parseTraceContext(place)?.traceId)
  expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)])
  expect(ids).not.toContain(TRACE)
})

it('exports no spans of refused requests and probes', async () => {
  await pause({ authorization: 'Bearer guessed' })
  await fetch(`${url}/healthz`)
  expect(begun).toEqual([])
})

async function pause(headers: Readonly<Record<string, string>>): Promise<number> {
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const piece of ['{"rea', 'son":"', 'later"}']) {
        controller.enqueue(Buffer.from(piece))
        await new Promise((resolve) => setImmediate(resolve))
      }
      controller.close()
    },
  })
  const init = { method: 'POST', headers: { ...stage.as('alice'), 'content-type': 'application/json', ...headers }, body, duplex: 'half' }
  const response = await fetch(`${url}/api/v1/namespaces/demo/rollouts/node-agent/actions/pause`, init as RequestInit)
  await response.text()
  return response.status
}

function listing(tracer: Tracer): Tracer {
  return {
    ...tracer,
    begin(name, options, run) {
      begun.push(name)
      return tracer.begin(name, options, run)
    },
  }
}
