import type { Metrics } from './metrics.ts'

/** One pass, as its runner reports it. */
export interface ObservedPass {
  readonly name: string
  readonly durationMs: number
  readonly outcome: string
}

/** @returns the runner option that reports passes; none if there are no metrics */
export function observing(metrics: Metrics | undefined): { readonly observe?: (pass: ObservedPass) => void } {
  if (metrics === undefined) return {}
  return {
    observe({ name, durationMs, outcome }) {
      metrics.count('tranche_passes_total', { controller: name, outcome })
      metrics.observe('tranche_pass_seconds', { controller: name }, durationMs / 1000)
    },
  }
}

/** @returns the queue option that reports taken keys; none if there are no metrics */
export function waiting(metrics: Metrics | undefined, queue: string): { readonly onTaken?: (waitedMs: number) => void } {
  if (metrics === undefined) return {}
  return { onTaken: (waitedMs) => metrics.observe('tranche_queue_wait_seconds', { queue }, waitedMs / 1000) }
}
