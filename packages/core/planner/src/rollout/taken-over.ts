import type { CanaryStatus, RolloutStatus } from '@tranche/api-schema'

/** What of a release another controller has begun cannot be read from its words alone. */
export interface TakenOver {
  readonly canary: CanaryStatus
  readonly stableRevision: string | undefined
  readonly releaseGeneration: number | undefined
}

/**
 * A release goes on where it stands, whoever began it: OpenKruise keeps the stable revision in the canary status alone,
 * does not say when the release began, and finishes in more steps than a DaemonSet needs.
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
