import type { Disturbance } from '../breach.ts'

/** @returns the first time from `sinceMs` on at which there has been no disturbance for `quietMs`, counted from `sinceMs` at the earliest */
export function quietAfter(disturbances: readonly Disturbance[], sinceMs: number, quietMs: number): number {
  let fromMs = sinceMs
  for (const one of disturbances.toSorted((a, b) => a.fromMs - b.fromMs))
    if (one.toMs > fromMs && one.fromMs < fromMs + quietMs) fromMs = one.toMs
  return fromMs + quietMs
}
