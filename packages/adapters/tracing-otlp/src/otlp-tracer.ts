import { AsyncLocalStorage } from 'node:async_hooks'
import { type Clock, sleep } from '@tranche/clock'
import type { Logger, Tracer } from '@tranche/telemetry'
import { loggingExporter } from './logging-exporter.ts'
import { createSpans, type Frame } from './spans.ts'
import type { TracingSettings } from './tracing-settings.ts'

/** Options of {@link createOtlpTracer}. */
export interface OtlpTracerOptions {
  readonly clock: Clock
  readonly settings: TracingSettings
  readonly log: Logger
  /** Exported as `service.version`. */
  readonly version: string
  /** Exported as `service.instance.id`, which identifies the process. */
  readonly instance: string
}

/** Tracer that exports its spans. */
export interface OtlpTracer {
  readonly tracer: Tracer
  /** Sends the remaining spans, for up to `deadlineMs`; never rejects. */
  close(deadlineMs: number): Promise<void>
}

/**
 * Exports spans by OTLP over HTTP, in batches and in the background. A receiver that is unavailable, slow or rejects them costs spans and
 * one log line. The libraries are loaded here on demand, so a process without tracing does not need them.
 */
export async function createOtlpTracer({ clock, settings, log, version, instance }: OtlpTracerOptions): Promise<OtlpTracer> {
  const [api, sdk, resources, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    settings.protocol === 'http/json'
      ? import('@opentelemetry/exporter-trace-otlp-http')
      : import('@opentelemetry/exporter-trace-otlp-proto'),
  ])
  const exporter = new OTLPTraceExporter({ url: settings.url, timeoutMillis: settings.timeoutMs })
  const own = { 'service.name': 'tranche', 'service.version': version, 'service.instance.id': instance }
  const named = settings.serviceName === undefined ? {} : { 'service.name': settings.serviceName }
  const provider = new sdk.TracerProvider({
    sampler: samplerOf(sdk, settings),
    // The environment variables win.
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes(own))
      .merge(resources.detectResources({ detectors: [resources.envDetector] }))
      .merge(resources.resourceFromAttributes(named)),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: loggingExporter(exporter, settings.url, log),
        scheduledDelayMillis: settings.scheduleDelayMs,
        maxQueueSize: settings.maxQueue,
        maxExportBatchSize: Math.min(settings.maxBatch, settings.maxQueue),
        exportTimeoutMillis: settings.timeoutMs + EXPORT_SLACK_MS,
      }),
    ],
  })
  return {
    tracer: createSpans({ api, clock, tracer: provider.getTracer('tranche', version), frames: new AsyncLocalStorage<Frame | null>() }),
    async close(deadlineMs) {
      const ended = provider.shutdown().catch(() => {}) // it has been logged
      const waiting = new AbortController()
      await Promise.race([ended, sleep(clock, deadlineMs, waiting.signal).catch(() => {})])
      waiting.abort()
    },
  }
}

/** Extra wait of the batching library over the sending one, in milliseconds, because the latter knows the cause. */
const EXPORT_SLACK_MS = 1_000

function samplerOf(
  sdk: typeof import('@opentelemetry/sdk-trace'),
  { sampler, ratio }: TracingSettings,
): import('@opentelemetry/sdk-trace').Sampler {
  const root = sampler.endsWith('always_off')
    ? new sdk.AlwaysOffSampler()
    : sampler.endsWith('traceidratio')
      ? new sdk.TraceIdRatioBasedSampler(ratio)
      : new sdk.AlwaysOnSampler()
  return sampler.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root
}
