import type { RecordedWrite } from '../record/recorded-write.ts'
import type { RecordedRollout } from '../world/stops.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { isStalled } from './judge-progress.ts'
import { actionOf, stepOf } from '../world/recorded-action.ts'

/**
 * G7: no request is lost. Judged at the end of a recording that has been quiescent since `quiescentFromMs`. Every request written before
 * that is answered, or replaced by another one of its kind:
 *
 * - an action by `lastAction` or `answeredActions`;
 * - an approval or a jump by a step that moves on or is put back;
 * - a spec by `observedGeneration`.
 */
export function createActionRecordJudge({ query, breach }: JudgeParts): Judge {
  const open = new Map<string, OpenRequest>()

  function take(write: RecordedWrite, key: string, before: RecordedRollout | undefined, next: RecordedRollout): void {
    const action = actionOf(next)
    if (action !== undefined && action.id !== actionOf(before)?.id)
      open.set(`${key} action`, { write, text: `the action ${action.type} (${action.id})`, isAnswered: (now) => isNamed(now, action.id) })
    const step = stepOf(next)
    const was = stepOf(before)
    if (step.state === 'StepReady' && was.state !== 'StepReady')
      open.set(`${key} approval`, {
        write,
        text: `the approval of step ${step.index}`,
        isAnswered: (now) => stepOf(now).state !== 'StepReady' || stepOf(now).index !== step.index,
      })
    if (step.next !== was.next && step.next !== undefined)
      open.set(`${key} jump`, {
        write,
        text: `the jump from step ${step.index} to ${step.next}`,
        isAnswered: (now) => stepOf(now).index !== step.index || stepOf(now).next !== step.next,
      })
    const generation = next.metadata.generation ?? 0
    if (generation > (before?.metadata.generation ?? 0))
      open.set(`${key} spec`, {
        write,
        text: `the spec of generation ${generation}`,
        isAnswered: (now) => (now.status?.observedGeneration ?? 0) >= generation || isStalled(now.status),
      })
  }

  return {
    onWrite(write, before) {
      if (write.kind !== 'Rollout') return
      const next = write.o as unknown as RecordedRollout
      const key = `${write.namespace}/${next.metadata.name}`
      const kinds = ['action', 'approval', 'jump', 'spec'].map((kind) => `${key} ${kind}`)
      if (write.type === 'DELETED') return kinds.forEach((kind) => void open.delete(kind))
      if (!query.isOurs(write.actor ?? '')) return take(write, key, before as unknown as RecordedRollout | undefined, next)
      for (const kind of kinds) if (open.get(kind)?.isAnswered(next) === true) open.delete(kind)
    },
    atEnd(lastMs) {
      for (const { write, text } of open.values()) {
        if (query.quiescentFromMs === undefined || write.t > query.quiescentFromMs) continue
        breach({
          guarantee: 'G7',
          atMs: lastMs,
          text: `${text}, written ${Math.round((lastMs - write.t) / 1000)} s before the end, was never answered`,
        })
      }
    },
  }
}

/** Request without an answer so far. */
interface OpenRequest {
  readonly write: RecordedWrite
  readonly text: string
  readonly isAnswered: (now: RecordedRollout) => boolean
}

function isNamed({ status }: RecordedRollout, id: string): boolean {
  return status?.lastAction?.id === id || status?.answeredActions?.includes(id) === true
}
