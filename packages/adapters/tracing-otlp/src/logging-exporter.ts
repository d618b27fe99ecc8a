import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Logger } from '@tranche/telemetry'

/** Wraps an exporter to log once when the receiver rejects spans, and once when it accepts them again. */
export function loggingExporter(exporter: SpanExporter, url: string, log: Logger): SpanExporter {
  let lost = 0
  return {
    export(spans, answer) {
      exporter.export(spans, (result) => {
        if (result.code === 0) {
          if (lost > 0) log.info({ url, spans: lost }, 'sending traces again; some spans were lost')
          lost = 0
        } else {
          if (lost === 0) log.warn({ url, err: result.error }, 'could not send traces; retrying without further log lines')
          lost += spans.length
        }
        answer(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  }
}
