import { VERSION } from '@tranche/cli'
import { systemClock } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'
import { createOtlpTracer, type OtlpTracer, type TracingSettings } from '@tranche/tracing-otlp'

/**
 * Starts the export of traces, and logs the endpoint.
 *
 * @param instance identity of the process
 */
export async function startTracing(settings: TracingSettings, log: Logger, instance: string): Promise<OtlpTracer> {
  const sender = await createOtlpTracer({ clock: systemClock, settings, log, version: VERSION, instance })
  log.info({ url: settings.url }, 'sending traces')
  return sender
}
