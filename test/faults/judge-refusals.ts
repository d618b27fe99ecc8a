import type { RecordedWrite, Stall } from '@tranche/recording'
import type { Asked } from './callers.ts'
import type { Violation } from './judge.ts'
import { mayRefuseTemplate, type Moment, momentsOf } from './template-refusals.ts'

/** What is known of a run beside what was written and asked. Moments are epoch milliseconds by the recording's clock. */
export interface RefusalFacts {
  /** From then on nothing goes wrong. */
  readonly quiescentFromMs: number
  /** When our programs stood still. */
  readonly stalls: readonly Stall[]
}

/**
 * Actions over REST that were refused or left unanswered without a reason (G7). A refusal needs one moment, from when the action was sent until
 * it was refused, at which there was a reason for its code: another step or revision than the action names, no release, a release that
 * failed, a step that does not wait; of an undo or a restart what the user wrote and the cluster held alone, and never our status.
 * `ACTION_PENDING` needs an action that has no answer. A code that says nothing of the release has no reason. In the calm every request is
 * answered, unless a process of the API stood still. An action in whose place another was written is refused by right, and an abort between a
 * deletion of the DaemonSet and the end of the next release: nothing tells which template is to be put back; and one for which the DaemonSet
 * has another template than the release, while no release of that begins for want of a policy.
 *
 * Knows the rules from docs/actions.md, and shares no code with what refuses.
 */
export function findWrongRefusals(
  writes: readonly RecordedWrite[],
  asked: readonly Asked[],
  { quiescentFromMs, stalls }: RefusalFacts,
): readonly Violation[] {
  const moments = asked.length === 0 ? [] : momentsOf(writes)
  return asked.flatMap((one): readonly Violation[] => {
    const { key, type, sentMs, outcome } = one
    if (outcome.kind === 'unanswered') {
      const stood = stalls.some(({ actor, toMs }) => actor.startsWith('api-') && toMs >= sentMs)
      if (sentMs < quiescentFromMs || stood) return []
      return [{ guarantee: 'G7', atMs: sentMs, text: `the ${type} ${key} was never answered: ${outcome.code}` }]
    }
    if (outcome.kind !== 'refused') return []
    const { code, atMs } = outcome
    const seen = momentsBetween(moments, sentMs, atMs)
    const rollouts = seen.map(({ rollout }) => rollout as SeenRollout | undefined)
    const isRight =
      type === 'undo' || type === 'restart'
        ? mayRefuseTemplate(seen, one, code) || (code === 'MOVED_ON' && rollouts.some((rollout) => isElsewhere(rollout, one)))
        : mayRefuse(rollouts, one, code) ||
          (type === 'abort' && judgedCodes.includes(code) && (hasLostStable(writes, atMs) || seen.some(isOtherTemplate))) ||
          (ofAStep.includes(type) && judgedCodes.includes(code) && seen.some(isOutOfDate))
    if (isRight) return []
    return [{ guarantee: 'G7', atMs, text: `the ${type} ${key} was refused with ${code}, though nothing spoke against it` }]
  })
}

/** @param versions of the Rollout, from the one that stood when the action was sent to the one when it was refused */
function mayRefuse(versions: readonly (SeenRollout | undefined)[], asked: Asked, code: string): boolean {
  const isGone = versions.includes(undefined)
  if (code === 'ROLLOUT_NOT_FOUND') return isGone
  if (code === 'ACTION_INVALID') return versions.some((version) => version !== undefined && !hasStep(version, asked))
  const allows = code === 'ACTION_PENDING' ? isAnswered : judgedCodes.includes(code) ? allowsIt : undefined
  if (allows === undefined) return false
  return isGone || isReplaced(versions) || versions.some((version) => version !== undefined && !allows(version, asked))
}

/** Of a jump: what it names is a step of the Rollout. */
function hasStep({ spec }: SeenRollout, { type, body: { step = 0 } }: Pick<Asked, 'type' | 'body'>): boolean {
  return type !== 'jump' || (step >= 1 && step <= (spec.strategy?.canary?.steps?.length ?? 0))
}

/** The action names a step or a revision, and no release is there. Of an undo the revision is that of the present template. */
function isElsewhere(rollout: SeenRollout | undefined, { type, body }: Asked): boolean {
  const { expectedStep, revision } = body
  const named = { ...(expectedStep !== undefined && { expectedStep }), ...(type !== 'undo' && revision !== undefined && { revision }) }
  return Object.keys(named).length > 0 && (rollout === undefined || !isAt(rollout, named))
}

/** @returns the moment that stood when the action was sent, and each that followed until it was refused */
function momentsBetween(moments: readonly Moment[], fromMs: number, toMs: number): readonly Moment[] {
  const first = moments.findLastIndex((moment) => moment.fromMs < fromMs)
  return moments.slice(Math.max(0, first)).filter((moment) => moment.fromMs <= toMs)
}

/** What a retry lifts. */
const lifted: readonly string[] = ['ReleaseFailed', 'AnalysisInconclusive', 'StrategyContested', 'RevisionHeld']
/** Reasons of `Stalled` that are of the release, and not of what was written. */
const ofTheRelease: readonly string[] = [...lifted, 'AnalysisFailed', 'PodsStuck', 'BudgetZero']

/** Reasons of `Stalled` in which the policy cannot be used. */
const ofThePolicy: readonly string[] = ['PolicyNotFound', 'PolicyInvalid']

/** Codes that say that the action does not fit what the release does. */
const judgedCodes: readonly string[] = ['MOVED_ON', 'ACTION_REJECTED']

/** As far as this judge reads it. */
interface SeenRollout {
  readonly metadata: {
    readonly annotations?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
    readonly generation?: number
  }
  readonly spec: {
    readonly disabled?: boolean
    readonly strategy?: { readonly paused?: boolean; readonly canary?: { readonly steps?: readonly unknown[] } }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly phase?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[]
    readonly failure?: object
    readonly heldRevisions?: readonly { readonly revision?: string }[]
    readonly canaryStatus?: {
      readonly currentStepIndex?: number
      readonly currentStepState?: string
      readonly canaryRevision?: string
      readonly stableRevision?: string
      readonly finalisingStep?: string
    }
    readonly lastAction?: { readonly id: string }
    readonly answeredActions?: readonly string[]
  }
}

/** The DaemonSet was deleted, and its history with it, and no release has ended since: nothing tells which template is the good one. */
function hasLostStable(writes: readonly RecordedWrite[], atMs: number): boolean {
  const until = writes.filter(({ t }) => t <= atMs)
  const deleted = until.findLastIndex(({ kind, type }) => kind === 'DaemonSet' && type === 'DELETED')
  const isHealthy = ({ kind, o }: RecordedWrite): boolean => kind === 'Rollout' && (o as unknown as SeenRollout).status?.phase === 'Healthy'
  return deleted !== -1 && !until.slice(deleted).some(isHealthy)
}

/** Another action took the place of the one that was sent: of two that are written, the later one counts. */
function isReplaced(versions: readonly (SeenRollout | undefined)[]): boolean {
  return new Set(versions.map((version) => version?.metadata.annotations?.['tranche.dev/action'])).size > 2
}

function allowsIt(rollout: SeenRollout, { type, body }: Asked): boolean {
  const { metadata, spec, status } = rollout
  if (metadata.deletionTimestamp !== undefined || spec.disabled === true) return false
  if (type === 'pause') return true
  if (type === 'resume') return spec.strategy?.paused === true
  const { currentStepState, canaryRevision, stableRevision } = status?.canaryStatus ?? {}
  if (!isAt(rollout, body) || canaryRevision === stableRevision) return false
  const stall = status?.conditions?.find((one) => one.type === 'Stalled' && one.status === 'True')
  // While the spec, or what it names, cannot be acted on, no action is taken; but an abort while the policy cannot be used.
  if (stall !== undefined && !ofTheRelease.includes(stall.reason ?? '')) return type === 'abort' && isAbortable(rollout, stall.reason)
  if (type === 'abort') return true
  if (type === 'retry') return lifted.includes(stall?.reason ?? '')
  if (status?.failure !== undefined || stall !== undefined) return false
  if (type === 'approve') return currentStepState === 'StepPaused'
  return type === 'promote' || (type === 'jump' && hasStep(rollout, { type, body }))
}

/** Without its policy a release deletes nothing, and people may abort it all the same (G9): once. */
function isAbortable({ status }: SeenRollout, stalled = ''): boolean {
  return ofThePolicy.includes(stalled) && !status?.heldRevisions?.some(({ revision }) => revision === status.canaryStatus?.canaryRevision)
}

/** No release begins without its policy: the DaemonSet has another template by then than the one whose release the status names. */
function isOtherTemplate(moment: Moment): boolean {
  const { status } = (moment.rollout ?? {}) as Partial<SeenRollout>
  const stall = status?.conditions?.find((one) => one.type === 'Stalled' && one.status === 'True')
  return ofThePolicy.includes(stall?.reason ?? '') && !hasTemplateOf(moment)
}

/** The DaemonSet has the template of the revision that the status names. */
function hasTemplateOf({ rollout, daemonSet, revisions }: Moment): boolean {
  const { status } = (rollout ?? {}) as Partial<SeenRollout>
  const present = [...revisions.values()].filter(({ template }) => template === daemonSet?.template)
  return present.some(({ hash }) => hash === status?.canaryStatus?.canaryRevision)
}

/** The status speaks of a template, or of steps, that somebody has replaced since: what names one of its steps may name no step by now. */
function isOutOfDate(moment: Moment): boolean {
  const { metadata, status } = (moment.rollout ?? {}) as Partial<SeenRollout>
  const isReplaced = moment.revisions.size > 0 && !hasTemplateOf(moment)
  return isReplaced || (status?.observedGeneration ?? 0) < (metadata?.generation ?? 0)
}

/** Actions that let a release pass a step. */
const ofAStep: readonly string[] = ['approve', 'jump', 'promote']

/** A release is at the step and on the revision that the action names, and has steps left. */
function isAt({ status }: SeenRollout, { expectedStep, revision }: Asked['body']): boolean {
  const { currentStepIndex, canaryRevision, finalisingStep = '' } = status?.canaryStatus ?? {}
  if (status?.phase !== 'Progressing' || finalisingStep !== '') return false
  return (expectedStep === undefined || expectedStep === currentStepIndex) && (revision === undefined || revision === canaryRevision)
}

/** Every action in the annotation has its answer. */
function isAnswered({ metadata, status }: SeenRollout): boolean {
  const text = metadata.annotations?.['tranche.dev/action']
  if (text === undefined) return true
  const { id } = JSON.parse(text) as { readonly id?: string }
  return id !== undefined && (status?.lastAction?.id === id || status?.answeredActions?.includes(id) === true)
}
