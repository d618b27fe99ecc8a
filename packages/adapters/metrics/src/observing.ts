import type { Metrics } from './metrics.ts'

/** One pass, as the frame in which it runs tells of it. */
export interface ObservedPass {
  readonly name: string
  readonly durationMs: number
  readonly outcome: string
}

/** @returns the option by which a frame tells of its passes; none where nothing is counted */
export function observing(metrics: Metrics | undefined): { readonly observe?: (pass: ObservedPass) => void } {
  if (metrics === undefined) return {}
  return {
    observe({ name, durationMs, outcome }) {
      metrics.count('tranche_passes_total', { controller: name, outcome })
      metrics.observe('tranche_pass_seconds', { controller: name }, durationMs / 1000)
    },
  }
}

/** @returns the option by which a queue tells of the keys that are taken; none where nothing is counted */
export function waiting(metrics: Metrics | undefined, queue: string): { readonly onTaken?: (waitedMs: number) => void } {
  if (metrics === undefined) return {}
  return { onTaken: (waitedMs) => metrics.observe('tranche_queue_wait_seconds', { queue }, waitedMs / 1000) }
}
