import type { RecordedRollout } from '../world/stops.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { actionOf, stepOf } from '../world/recorded-action.ts'

/**
 * G10: our writes never overwrite what users wrote on a Rollout without having read it. After another actor has written the step, our next
 * write that changes it names the version that it was made from, and the server accepts no other. None of our writes changes the spec or
 * the action annotation.
 */
export function createStatusWriteJudge({ query, breach }: JudgeParts): Judge {
  /** Version of each Rollout in which another actor last wrote the step. */
  const foreign = new Map<string, number>()

  return {
    onWrite(write, known) {
      if (write.kind !== 'Rollout') return
      const next = write.o as unknown as RecordedRollout
      const before = known as unknown as RecordedRollout | undefined
      const key = `${write.namespace}/${next.metadata.name}`
      if (write.type === 'DELETED' || before === undefined) return void foreign.delete(key)
      const changesStep = JSON.stringify(stepOf(next)) !== JSON.stringify(stepOf(before))
      if (!query.isOurs(write.actor ?? '')) return void (changesStep && foreign.set(key, write.rv))
      const report = (text: string): void => breach({ guarantee: 'G10', atMs: write.t, text: `${write.actor} ${text} of ${key}` })
      if (changesStep && foreign.has(key) && write.basedOn === undefined) {
        const { state, next: asked } = stepOf(before)
        report(`overwrote the unread step (${state}, next ${asked})`)
      }
      if (changesStep) foreign.delete(key)
      if (JSON.stringify(next.spec) !== JSON.stringify(before.spec)) report('changed the spec')
      if (actionOf(next)?.id !== actionOf(before)?.id) report('changed the action')
    },
  }
}
