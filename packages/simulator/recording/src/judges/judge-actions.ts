import type { RecordedWrite } from '../record/recorded-write.ts'
import type { RecordedRelease, RecordedRollout } from '../world/stops.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { actionOf, stepOf } from '../world/recorded-action.ts'

/**
 * How actions of users are answered.
 *
 * - G7: each action is answered once, unless it is rewritten with other content.
 * - G10: an action that names a step or a revision is accepted for no other.
 * - G10: `StepReady` in the status approves a waiting step, and no other step. It is not put back there, unless the revision is blocked
 *   or has failed.
 */
export function createActionJudge(parts: JudgeParts): Judge {
  return new ActionJudge(parts)
}

class ActionJudge implements Judge {
  readonly #parts: JudgeParts
  /** Rollout and id → the answer, and the annotation that it answered. */
  readonly #answers = new Map<string, { readonly answer: string; readonly text: string | undefined }>()
  /** Rollout → the step at the time when another actor wrote `StepReady`. */
  readonly #words = new Map<string, Standing>()
  /** Rollouts whose BatchRelease is stopped for a failed or blocked revision; their own status may say so later. */
  readonly #stopped = new Set<string>()
  /** Rollouts whose last answer another actor's write removed: an unknown action is refused. */
  readonly #forgotten = new Set<string>()
  /** Rollout and generation → its steps, as users wrote them. */
  readonly #stepsAt = new Map<string, string>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  onWrite(write: RecordedWrite, known: Readonly<Record<string, unknown>> | undefined): void {
    if (write.kind === 'BatchRelease') return this.#followRelease(write)
    if (write.kind !== 'Rollout' || known === undefined) return
    const next = write.o as unknown as RecordedRollout
    const before = known as unknown as RecordedRollout
    const key = keyOf(write)
    for (const rollout of [before, next]) this.#stepsAt.set(`${key} ${rollout.metadata.generation}`, stepsOf(rollout))
    if (write.type === 'DELETED') return void this.#words.delete(key)
    if (!this.#parts.query.isOurs(write.actor ?? '')) return this.#followOthers(key, before, next)
    this.#judgeAnswer(write, before, next)
    this.#judgeWord(write, before, next)
  }

  #followRelease({ o, type, namespace }: RecordedWrite): void {
    const { metadata, status } = o as RecordedRelease
    const { holds = [] } = (status?.flight ?? {}) as { readonly holds?: readonly { readonly reason: string }[] }
    const isFailed = (status?.failure as { readonly stops?: boolean } | undefined)?.stops === true
    const isStopped = isFailed || holds.some(({ reason }) => reason === 'ReleaseFailed' || reason === 'RevisionHeld')
    const key = `${namespace}/${metadata?.name}`
    if (isStopped && type !== 'DELETED') this.#stopped.add(key)
    else this.#stopped.delete(key)
  }

  #followOthers(key: string, before: RecordedRollout, next: RecordedRollout): void {
    if (before.status?.lastAction !== undefined && next.status?.lastAction === undefined) this.#forgotten.add(key)
    const was = before.status?.currentStepState
    const isWord = stepOf(next).state === 'StepReady' && stepOf(before).state === was && was !== 'StepReady' && was !== undefined
    const { index } = stepOf(before)
    if (isWord && before.status?.phase === 'Progressing')
      this.#words.set(key, {
        state: was,
        index,
        revision: before.status.canaryStatus?.canaryRevision,
        isFailed: before.status.failure?.stops === true,
      })
  }

  #judgeAnswer(write: RecordedWrite, before: RecordedRollout, next: RecordedRollout): void {
    const { lastAction } = next.status ?? {}
    if (lastAction === undefined || JSON.stringify(lastAction) === JSON.stringify(before.status?.lastAction)) return
    const key = `${keyOf(write)} ${lastAction.id}`
    const text = before.metadata.annotations?.[ACTION]
    const known = this.#answers.get(key)
    this.#answers.set(key, { answer: String(lastAction.result), text })
    const report = (guarantee: 'G7' | 'G10', why: string): void =>
      this.#parts.breach({ guarantee, atMs: write.t, text: `the action ${lastAction.type} (${lastAction.id}) was ${why}` })
    const isForgotten = this.#forgotten.delete(keyOf(write)) && lastAction.result === 'Refused'
    if (known !== undefined && known.text === text && !isForgotten)
      report('G7', `answered twice: first ${known.answer}, then ${lastAction.result}`)
    const action = actionOf(before)
    if (lastAction.result !== 'Accepted' || action?.id !== lastAction.id || action.type === 'retry') return
    const { index } = stepOf(before)
    const { canaryRevision } = before.status?.canaryStatus ?? {}
    if (action.expectedStep !== undefined && index !== undefined && action.expectedStep !== index)
      report('G10', `accepted at step ${index}, but expected step ${action.expectedStep}`)
    if (action.revision !== undefined && canaryRevision !== undefined && action.revision !== canaryRevision)
      report('G10', `accepted for revision ${canaryRevision}, but expected ${action.revision}`)
  }

  #judgeWord(write: RecordedWrite, before: RecordedRollout, next: RecordedRollout): void {
    const key = keyOf(write)
    const standing = this.#words.get(key)
    if (standing === undefined || JSON.stringify(before.status) === JSON.stringify(next.status)) return
    this.#words.delete(key)
    const { state, index } = stepOf(next)
    const { phase, currentStepState, canaryStatus, failure, heldRevisions = [] } = next.status ?? {}
    if (phase !== 'Progressing' || canaryStatus?.canaryRevision !== standing.revision || isJumpedOrPromoted(before, next)) return
    // New steps are counted from their own first one, so the current step says nothing about an approval.
    const observed = this.#stepsAt.get(`${key} ${before.status?.observedGeneration}`)
    const isReplaced = observed !== undefined && observed !== stepsOf(next)
    const report = (text: string): void => this.#parts.breach({ guarantee: 'G10', atMs: write.t, text: `${write.actor} ${text} of ${key}` })
    const isPutBack = state === 'StepPaused' && index === standing.index
    const isHeld = heldRevisions.some(({ revision }) => revision === standing.revision)
    const isStopped = standing.isFailed || this.#stopped.has(key) || failure?.stops === true || isHeld
    if (standing.state === 'StepPaused') {
      if (isPutBack && !isStopped) report(`put back the approval of step ${index}`)
    } else if (currentStepState === 'StepReady' || (!isReplaced && (index ?? 0) > (standing.index ?? 0)))
      report(`treated StepReady as an approval of step ${standing.index} in ${standing.state}`)
  }
}

/** Step as our status had it. */
interface Standing {
  readonly state: string
  readonly index: number | undefined
  readonly revision: string | undefined
  /** The status said that the revision had failed; a write under another CRD may drop that field. */
  readonly isFailed: boolean
}

const ACTION = 'tranche.dev/action'

/** A jump or a promotion continues a release from any state. */
function isJumpedOrPromoted(before: RecordedRollout, next: RecordedRollout): boolean {
  const { next: planned, index = 0 } = stepOf(before)
  if (planned !== undefined && planned !== -1 && planned !== index + 1) return true
  const isPromoted = ({ status }: RecordedRollout): boolean => (status?.acceptedActions ?? status?.acceptedWishes)?.promote !== undefined
  return actionOf(before)?.type === 'jump' || isPromoted(before) || isPromoted(next)
}

function stepsOf({ spec }: RecordedRollout): string {
  return JSON.stringify(spec.strategy?.canary?.steps ?? [])
}

function keyOf({ namespace, o }: RecordedWrite): string {
  return `${namespace}/${(o as unknown as RecordedRollout).metadata.name}`
}
