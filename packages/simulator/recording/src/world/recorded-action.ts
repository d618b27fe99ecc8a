import type { RecordedRollout } from './stops.ts'

const ACTION = 'tranche.dev/action'

/** Action as written; only a jump has `step`. */
export interface RecordedAction {
  readonly id: string
  readonly type: string
  readonly step?: number
  readonly expectedStep?: number
  readonly revision?: string
}

/** Action in the annotation of a Rollout; undefined when the annotation is missing or malformed. */
export function actionOf(rollout: RecordedRollout | undefined): RecordedAction | undefined {
  const text = rollout?.metadata.annotations?.[ACTION]
  if (text === undefined) return undefined
  try {
    const { id, type, step, expectedStep, revision } = JSON.parse(text) as Readonly<Record<string, unknown>>
    if (typeof id !== 'string' || typeof type !== 'string') return undefined
    return {
      id,
      type,
      ...(typeof step === 'number' && { step }),
      ...(typeof expectedStep === 'number' && { expectedStep }),
      ...(typeof revision === 'string' && { revision }),
    }
  } catch {
    return undefined
  }
}

/** Status fields that users may write: state of the current step, and the next step. */
export function stepOf(rollout: RecordedRollout | undefined): {
  readonly index: number | undefined
  readonly next: number | undefined
  readonly state: string | undefined
} {
  const { currentStepIndex, nextStepIndex, currentStepState } = rollout?.status?.canaryStatus ?? {}
  return { index: currentStepIndex, next: nextStepIndex, state: currentStepState }
}
