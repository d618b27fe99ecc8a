import type { Metrics } from '@tranche/metrics'
import type { EventRecorder } from '@tranche/reconcile'

/** Counts recorded events as `tranche_events_total`; returns the recorder itself without metrics. */
export function countEvents(recorder: EventRecorder, metrics: Metrics | undefined): EventRecorder {
  if (metrics === undefined) return recorder
  return {
    ...recorder,
    record(regarding, type, reason, message) {
      metrics.count('tranche_events_total', { type, reason })
      recorder.record(regarding, type, reason, message)
    },
  }
}
