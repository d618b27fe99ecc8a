import type { CanaryStatus, RolloutStatus } from '@tranche/api-schema'

/** Data about another controller's release that its status alone does not contain. */
export interface TakenOver {
  readonly canary: CanaryStatus
  readonly stableRevision: string | undefined
  readonly releaseGeneration: number | undefined
}

/**
 * A release continues where it is, whichever controller started it. OpenKruise keeps the stable revision only in the canary
 * status, does not record when the release started, and finishes in more steps than a DaemonSet needs.
 */
export function takenOver(status: RolloutStatus | undefined, canary: CanaryStatus): TakenOver {
  const { stableRevision, releaseGeneration } = status ?? {}
  const isWhole = releaseGeneration !== undefined && stableRevision !== undefined
  if (status?.phase !== 'Progressing' || isWhole) return { canary, stableRevision, releaseGeneration }
  const isFinished = canary.currentStepState === 'Completed' && canary.canaryRevision !== ''
  return {
    canary: isFinished ? { ...canary, finalisingStep: 'ResumeWorkload', nextStepIndex: -1 } : canary,
    stableRevision: stableRevision ?? canary.stableRevision,
    releaseGeneration: releaseGeneration ?? canary.observedWorkloadGeneration ?? 0,
  }
}
