import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Logger } from '@tranche/log'

/** The same exporter, which says once when the receiver takes nothing, and once when it does again. */
export function loggingExporter(exporter: SpanExporter, url: string, log: Logger): SpanExporter {
  let lost = 0
  return {
    export(spans, answer) {
      exporter.export(spans, (result) => {
        if (result.code === 0) {
          if (lost > 0) log.info({ url, spans: lost }, 'sends traces again; these were lost')
          lost = 0
        } else {
          if (lost === 0) log.warn({ url, err: result.error }, 'could not send traces; goes on trying, and says no more of it')
          lost += spans.length
        }
        answer(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  }
}
