import type { RolloutReport } from '@tranche/api-schema'

/** A soak that runs. */
export interface SoakProgress {
  readonly title: string
  /** RFC 3339. */
  readonly until: string
  /** Negative once it is due. */
  readonly leftMs: number
  /** Part that has passed, from 0 to 1; undefined if its start is unknown. */
  readonly passed: number | undefined
}

/** @returns the soak of a step, or of the release after its last step; undefined if none runs */
export function soakProgress(
  { remaining, waitingFor }: Pick<RolloutReport, 'remaining' | 'waitingFor'>,
  nowMs: number,
): SoakProgress | undefined {
  if (remaining === undefined || (remaining.of !== 'soak' && remaining.of !== 'settling')) return undefined
  const endMs = Date.parse(remaining.until)
  const startMs = remaining.of === 'soak' && waitingFor?.since !== undefined ? Date.parse(waitingFor.since) : Number.NaN
  return {
    title: remaining.of === 'soak' ? 'Soak of this step' : 'Final soak of the release',
    until: remaining.until,
    leftMs: endMs - nowMs,
    passed: endMs > startMs ? Math.min(1, Math.max(0, (nowMs - startMs) / (endMs - startMs))) : undefined,
  }
}
