import type { RecordedRollout } from '../world/stops.ts'

const ACTION = 'tranche.dev/action'

/** The wish in the annotation of a Rollout; undefined without one that can be read. */
export function actionOf(rollout: RecordedRollout | undefined): { readonly id: string; readonly type: string } | undefined {
  const text = rollout?.metadata.annotations?.[ACTION]
  if (text === undefined) return undefined
  try {
    const { id, type } = JSON.parse(text) as { readonly id?: unknown; readonly type?: unknown }
    return typeof id === 'string' && typeof type === 'string' ? { id, type } : undefined
  } catch {
    return undefined
  }
}

/** What of a status people may write: where the step stands, and which is next. */
export function stepOf(rollout: RecordedRollout | undefined): {
  readonly index: number | undefined
  readonly next: number | undefined
  readonly state: string | undefined
} {
  const { currentStepIndex, nextStepIndex, currentStepState } = rollout?.status?.canaryStatus ?? {}
  return { index: currentStepIndex, next: nextStepIndex, state: currentStepState }
}
