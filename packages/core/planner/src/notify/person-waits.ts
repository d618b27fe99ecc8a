import { personWaits, type RolloutStatus } from '@tranche/api-schema'

/** Whether only a person ends a wait with this reason; false for reasons of a newer version. */
export function needsPerson(reason: string): boolean {
  return Object.hasOwn(personWaits, reason) && personWaits[reason as keyof typeof personWaits]
}

/** Whether a release runs and no pause stops it: what it waits for then is `waitingFor`. */
export function isUnpaused({ phase, conditions, canaryStatus }: RolloutStatus): boolean {
  const progressing = conditions?.find(({ type }) => type === 'Progressing')
  return phase === 'Progressing' && progressing?.reason !== 'Paused' && canaryStatus?.currentStepState !== 'StepPaused'
}
