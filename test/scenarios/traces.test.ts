import { afterEach, expect, it } from 'vitest'
import { systemClock } from '@tranche/clock'
import { silentLogger, type Tracer } from '@tranche/telemetry'
import { carryOut } from '@tranche/release-client'
import { createOtlpTracer, type OtlpTracer, readTracingSettings } from '@tranche/tracing-otlp'
import { untilPausedAt, untilReleased } from './looks.ts'
import { createRequestLog } from './requests.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'
import { type ReceivedSpan, startTraceReceiver, type TraceReceiver } from './trace-receiver.ts'

let stage: Stage
let receiver: TraceReceiver
afterEach(async () => {
  await stage.end()
  await receiver.close()
})

it('one trace covers an action, the controller, the queue, the executor and its deletions', async () => {
  receiver = await startTraceReceiver()
  const senders = new Map<string, OtlpTracer>()
  for (const name of ['api', 'controller-1', 'executor-1']) senders.set(name, await tracerOf(name))
  stage = await setStage({
    nodes: 4,
    maxUnavailable: 1,
    steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }],
    sharesQueue: true,
    tracer: (identity) => senders.get(identity)!.tracer,
  })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await approveInTrace(senders.get('api')!)
  await untilReleased(stage, 'v2')
  for (const sender of senders.values()) await sender.close(10_000)

  const spans = receiver.spans()
  const deletions = spans.filter(({ name }) => name === 'delete pod')
  expect(deletions.map(({ attributes }) => attributes['tranche.result'])).toEqual(Array(4).fill('accepted'))
  const ofAction = deletions.filter((span) => pathTo(span, spans)[0] === 'api: POST approve')
  expect(ofAction.map((span) => pathTo(span, spans))).toEqual([
    [
      'api: POST approve',
      'controller-1: rollout pass',
      'controller-1: rollout pass',
      'controller-1: batch-release pass',
      'controller-1: batch-release pass',
      'controller-1: enqueue',
      'executor-1: job',
      'executor-1: partition-executor pass',
      'executor-1: job',
      'executor-1: partition-executor pass',
      'executor-1: delete pod',
    ],
    [
      'api: POST approve',
      'controller-1: rollout pass',
      'controller-1: rollout pass',
      'controller-1: batch-release pass',
      'controller-1: batch-release pass',
      'controller-1: enqueue',
      'executor-1: job',
      'executor-1: partition-executor pass',
      'executor-1: enqueue',
      'executor-1: job',
      'executor-1: partition-executor pass',
      'executor-1: delete pod',
    ],
  ])
  expect(ofAction[0]?.attributes).toMatchObject({ 'k8s.node.name': expect.stringMatching(/^node-\d+$/), 'k8s.pod.uid': expect.any(String) })
  // Most passes find nothing to do.
  expect(spans.filter(({ name }) => name.endsWith(' pass')).length).toBeLessThan(60)
})

it('programs send the same requests in the same order with and without traces', async () => {
  receiver = await startTraceReceiver()
  const sender = await tracerOf('all')
  const played = async (tracer?: Tracer): Promise<readonly string[]> => {
    const log = createRequestLog()
    stage = await setStage({
      nodes: 4,
      maxUnavailable: 1,
      steps: [{ replicas: '100%' }],
      sharesQueue: true,
      tap: log.tap,
      ...(tracer && { tracer: () => tracer }),
    })
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    const sent = log.sent().map(({ identity, what }) => `${identity} ${what}`)
    await stage.end()
    return sent
  }
  const [reported, silent] = [await played(sender.tracer), await played()]
  expect(reported).toEqual(silent)
  await sender.close(10_000)
  expect(receiver.spans().length).toBeGreaterThan(0)
})

function tracerOf(service: string): Promise<OtlpTracer> {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_SERVICE_NAME: service }
  return createOtlpTracer({
    clock: systemClock,
    settings: readTracingSettings(env)!,
    log: silentLogger,
    version: '0.1.0',
    instance: service,
  })
}

/** Approves like the REST API. */
async function approveInTrace({ tracer }: OtlpTracer): Promise<void> {
  const { client, clock } = stage
  const answer = tracer.begin('POST approve', { kind: 'server' }, () =>
    carryOut(
      { client, clock, log: silentLogger, component: 'tranche-api' },
      {
        on: 'Rollout',
        key: stageKey,
        type: 'approve',
        body: { expectedStep: 1 },
        by: 'alice',
        via: 'rest',
        waitMs: 0,
        trace: tracer.current(),
      },
    ),
  )
  let settled = false
  void answer.finally(() => (settled = true))
  await stage.until('the action is written', () => settled)
}

/** Service and name of every span on the path from the start of the trace to this one. */
function pathTo(span: ReceivedSpan, spans: readonly ReceivedSpan[]): readonly string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  return [...(parent === undefined ? [] : pathTo(parent, spans)), `${span.service}: ${span.name}`]
}
