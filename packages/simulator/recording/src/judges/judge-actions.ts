import type { RecordedWrite } from '../recorded-write.ts'
import type { RecordedRelease, RecordedRollout } from '../world/stops.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { actionOf, stepOf } from './recorded-action.ts'

/**
 * What becomes of the actions that people write. G7: each is answered once, as long as nobody writes it with another content. G10: one that names
 * a step or a revision is accepted for no other. And of their words in the status: `StepReady` approves a step that waits, and no other; where it
 * does, it is not put back, unless the version is held or has failed.
 */
export function createActionJudge({ query, breach }: JudgeParts): Judge {
  /** Rollout and id → the answer, and the text that it answered. */
  const answers = new Map<string, { readonly answer: string; readonly text: string | undefined }>()
  /** Rollout → the step as it stood when somebody else wrote `StepReady` there. */
  const words = new Map<string, Standing>()
  /** Rollouts whose BatchRelease is stopped for a version that failed or is held: their own status may say so later. */
  const stopped = new Set<string>()
  /** Rollouts whose last answer somebody else's write has taken away: what we do not know we refuse. */
  const forgotten = new Set<string>()
  /** Rollout and generation → its steps, as people wrote them. */
  const stepsAt = new Map<string, string>()

  function judgeAnswer(write: RecordedWrite, before: RecordedRollout, next: RecordedRollout): void {
    const { lastAction } = next.status ?? {}
    if (lastAction === undefined || JSON.stringify(lastAction) === JSON.stringify(before.status?.lastAction)) return
    const key = `${keyOf(write)} ${lastAction.id}`
    const text = before.metadata.annotations?.[ACTION]
    const known = answers.get(key)
    answers.set(key, { answer: String(lastAction.result), text })
    const report = (guarantee: 'G7' | 'G10', why: string): void =>
      breach({ guarantee, atMs: write.t, text: `the action ${lastAction.type} (${lastAction.id}) was ${why}` })
    const isForgotten = forgotten.delete(keyOf(write)) && lastAction.result === 'Refused'
    if (known !== undefined && known.text === text && !isForgotten)
      report('G7', `answered a second time: ${known.answer}, and now ${lastAction.result}`)
    const action = actionOf(before)
    if (lastAction.result !== 'Accepted' || action?.id !== lastAction.id || action.type === 'retry') return
    const { index } = stepOf(before)
    const { canaryRevision } = before.status?.canaryStatus ?? {}
    if (action.expectedStep !== undefined && index !== undefined && action.expectedStep !== index)
      report('G10', `accepted at step ${index}, and meant for step ${action.expectedStep}`)
    if (action.revision !== undefined && canaryRevision !== undefined && action.revision !== canaryRevision)
      report('G10', `accepted for revision ${canaryRevision}, and meant for ${action.revision}`)
  }

  function judgeWord(write: RecordedWrite, before: RecordedRollout, next: RecordedRollout): void {
    const key = keyOf(write)
    const standing = words.get(key)
    if (standing === undefined || JSON.stringify(before.status) === JSON.stringify(next.status)) return
    words.delete(key)
    const { state, index } = stepOf(next)
    const { phase, currentStepState, canaryStatus, failure, heldRevisions = [] } = next.status ?? {}
    if (phase !== 'Progressing' || canaryStatus?.canaryRevision !== standing.revision || isJumpedOrPromoted(before, next)) return
    // Steps that replace others are counted from their own first one: which of them is the present one says nothing of an approval.
    const observed = stepsAt.get(`${key} ${before.status?.observedGeneration}`)
    const isReplaced = observed !== undefined && observed !== stepsOf(next)
    const report = (text: string): void => breach({ guarantee: 'G10', atMs: write.t, text: `${write.actor} ${text} of ${key}` })
    const isPutBack = state === 'StepPaused' && index === standing.index
    const isHeld = heldRevisions.some(({ revision }) => revision === standing.revision)
    const isStopped = standing.isFailed || stopped.has(key) || failure?.stops === true || isHeld
    if (standing.state === 'StepPaused') {
      if (isPutBack && !isStopped) report(`put back the approval of step ${index}`)
    } else if (currentStepState === 'StepReady' || (!isReplaced && (index ?? 0) > (standing.index ?? 0)))
      report(`took StepReady for an approval of step ${standing.index}, which was in ${standing.state},`)
  }

  function followRelease({ o, type, namespace }: RecordedWrite): void {
    const { metadata, status } = o as RecordedRelease
    const { holds = [] } = (status?.flight ?? {}) as { readonly holds?: readonly { readonly reason: string }[] }
    const isFailed = (status?.failure as { readonly stops?: boolean } | undefined)?.stops === true
    const isStopped = isFailed || holds.some(({ reason }) => reason === 'ReleaseFailed' || reason === 'RevisionHeld')
    const key = `${namespace}/${metadata?.name}`
    if (isStopped && type !== 'DELETED') stopped.add(key)
    else stopped.delete(key)
  }

  return {
    onWrite(write, known) {
      if (write.kind === 'BatchRelease') return followRelease(write)
      if (write.kind !== 'Rollout' || known === undefined) return
      const next = write.o as unknown as RecordedRollout
      const before = known as unknown as RecordedRollout
      const key = keyOf(write)
      for (const rollout of [before, next]) stepsAt.set(`${key} ${rollout.metadata.generation}`, stepsOf(rollout))
      if (write.type === 'DELETED') return void words.delete(key)
      if (query.isOurs(write.actor ?? '')) {
        judgeAnswer(write, before, next)
        judgeWord(write, before, next)
        return
      }
      if (before.status?.lastAction !== undefined && next.status?.lastAction === undefined) forgotten.add(key)
      const was = before.status?.currentStepState
      const isWord = stepOf(next).state === 'StepReady' && stepOf(before).state === was && was !== 'StepReady' && was !== undefined
      const { index } = stepOf(before)
      if (isWord && before.status?.phase === 'Progressing')
        words.set(key, {
          state: was,
          index,
          revision: before.status.canaryStatus?.canaryRevision,
          isFailed: before.status.failure?.stops === true,
        })
    },
  }
}

/** A step as our status had it. */
interface Standing {
  readonly state: string
  readonly index: number | undefined
  readonly revision: string | undefined
  /** The status said that the version had failed; a write under other definitions takes that from it. */
  readonly isFailed: boolean
}

const ACTION = 'tranche.dev/action'

/** By these a release goes on from any state. */
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
