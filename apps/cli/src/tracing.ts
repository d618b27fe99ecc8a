import { systemClock } from '@tranche/clock'
import type { Logger } from '@tranche/log'
import { createOtlpTracer, type OtlpTracer, type TracingSettings } from '@tranche/tracing-otlp'
import { VERSION } from './version.ts'

/**
 * Begins to send traces, and says where to.
 *
 * @param instance which process it is
 */
export async function startTracing(settings: TracingSettings, log: Logger, instance: string): Promise<OtlpTracer> {
  const sender = await createOtlpTracer({ clock: systemClock, settings, log, version: VERSION, instance })
  log.info({ url: settings.url }, 'sends traces')
  return sender
}
