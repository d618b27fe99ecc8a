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
  const { id, type, step, expectedStep, revision } = membersOf(rollout)
  if (typeof id !== 'string' || typeof type !== 'string') return undefined
  return {
    id,
    type,
    ...(typeof step === 'number' && { step }),
    ...(typeof expectedStep === 'number' && { expectedStep }),
    ...(typeof revision === 'string' && { revision }),
  }
}

/** Type of the action in the annotation, which may have no id; undefined when the annotation is missing or malformed. */
export function actionTypeOf(rollout: RecordedRollout | undefined): string | undefined {
  const { type } = membersOf(rollout)
  return typeof type === 'string' ? type : undefined
}

function membersOf(rollout: RecordedRollout | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(rollout?.metadata.annotations?.[ACTION] ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
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
