import type { CanaryStatus, RolloutStatus } from '@tranche/api-schema'

/** The canary status with what people wrote into it, and what had to be put back. */
export interface Heeded {
  readonly canary: CanaryStatus
  /** Says what was put back and why; null when nothing was. */
  readonly warning: string | null
}

/**
 * Tells the wishes in a status from our own words: `canaryStatus.currentStepState` is written by people too (`StepReady`
 * approves a paused step), while the status's own `currentStepState` is only ever written by us. A word that is no wish
 * now is put back, never kept for later (G10).
 */
export function heedWishes(status: RolloutStatus | undefined): Heeded | undefined {
  const canary = status?.canaryStatus
  if (status === undefined || canary === undefined) return undefined
  const own = status.currentStepState
  const asked = canary.currentStepState
  if (asked === own || own === '') return { canary, warning: null }
  if (status.phase === 'Progressing' && own === 'StepPaused' && asked === 'StepReady') return { canary, warning: null }
  const warning = `canaryStatus.currentStepState was set to ${asked} while the step is ${own}; only StepReady on a paused step is a wish, so it was put back`
  return { canary: { ...canary, currentStepState: own }, warning }
}
