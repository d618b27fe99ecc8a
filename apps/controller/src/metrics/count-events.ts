import type { Metrics } from '@tranche/metrics'
import type { EventRecorder } from '@tranche/reconcile'

/** The same recorder, with what it records counted; itself where nothing is counted. */
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
