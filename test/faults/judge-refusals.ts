import type { RecordedWrite, Stall } from '@tranche/recording'
import type { Asked } from './callers.ts'
import type { Violation } from './judge.ts'
import { mayRefuseTemplate, type Moment, momentsOf } from './template-refusals.ts'

/** Facts about a run beside its writes and requests. Times are epoch milliseconds by the recording's clock. */
export interface RefusalFacts {
  /** From this time on no fault is injected. */
  readonly quiescentFromMs: number
  /** When our programs were frozen. */
  readonly stalls: readonly Stall[]
}

/**
 * Actions over REST that were refused or left unanswered without a reason (G7).
 *
 * A refusal needs one moment, between the sending and the refusal, at which there was a reason for its code. Reasons are another step or
 * revision than the action names, no release, a failed release, or a step that does not wait. For an undo or a restart only the objects
 * of the user and the state of the cluster count, and never our status. `ACTION_PENDING` needs an action without an answer. A code that
 * is not about the release has no reason. After the last fault every request is answered, unless a process of the API was frozen.
 *
 * These refusals are right:
 *
 * - of an action that another one has replaced;
 * - of an approval, a jump or a promotion while the status is about a template or steps that were replaced since;
 * - of a retry while the status is about a template that was replaced since, whose failure its author saw;
 * - of an abort between a deletion of the DaemonSet and the end of the next release, because the template to restore is unknown;
 * - of an abort while the DaemonSet has a template that is not the release's, whose own release cannot start because its policy is missing.
 *
 * The rules are those of docs/reference/actions.md; the judge shares no code with the programs that refuse.
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
          (ofAStep.includes(type) && judgedCodes.includes(code) && seen.some(isOutOfDate)) ||
          (type === 'retry' && judgedCodes.includes(code) && seen.some(isOfReplacedTemplate))
    if (isRight) return []
    return [{ guarantee: 'G7', atMs, text: `the ${type} ${key} was refused with ${code} without a reason` }]
  })
}

/** @param versions of the Rollout, from the one when the action was sent to the one when it was refused */
function mayRefuse(versions: readonly (SeenRollout | undefined)[], asked: Asked, code: string): boolean {
  const isGone = versions.includes(undefined)
  if (code === 'ROLLOUT_NOT_FOUND') return isGone
  if (code === 'ACTION_INVALID') return versions.some((version) => version !== undefined && !hasStep(version, asked))
  const allows = code === 'ACTION_PENDING' ? isAnswered : judgedCodes.includes(code) ? allowsIt : undefined
  if (allows === undefined) return false
  return isGone || isReplaced(versions) || versions.some((version) => version !== undefined && !allows(version, asked))
}

/** Whether the step that a jump names exists in the Rollout. */
function hasStep({ spec }: SeenRollout, { type, body: { step = 0 } }: Pick<Asked, 'type' | 'body'>): boolean {
  return type !== 'jump' || (step >= 1 && step <= (spec.strategy?.canary?.steps?.length ?? 0))
}

/** The action names a step or a revision at which there is no release. The revision of an undo is that of the present template. */
function isElsewhere(rollout: SeenRollout | undefined, { type, body }: Asked): boolean {
  const { expectedStep, revision } = body
  const named = { ...(expectedStep !== undefined && { expectedStep }), ...(type !== 'undo' && revision !== undefined && { revision }) }
  return Object.keys(named).length > 0 && (rollout === undefined || !isAt(rollout, named))
}

/** @returns the moment at which the action was sent, and each one until it was refused */
function momentsBetween(moments: readonly Moment[], fromMs: number, toMs: number): readonly Moment[] {
  const first = moments.findLastIndex((moment) => moment.fromMs < fromMs)
  return moments.slice(Math.max(0, first)).filter((moment) => moment.fromMs <= toMs)
}

/** Reasons of `Stalled` that a retry clears. */
const lifted: readonly string[] = ['ReleaseFailed', 'AnalysisInconclusive', 'StrategyConflict', 'RevisionHeld']
/** Reasons of `Stalled` that are about the release, and not about the written objects. */
const ofTheRelease: readonly string[] = [...lifted, 'AnalysisFailed', 'PodsStuck', 'BudgetZero']

/** Reasons of `Stalled` for a policy that cannot be used. */
const ofThePolicy: readonly string[] = ['PolicyNotFound', 'PolicyInvalid']

/** Codes of an action that does not fit the state of the release. */
const judgedCodes: readonly string[] = ['MOVED_ON', 'ACTION_REJECTED']

/** The members that this judge reads. */
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

/** The DaemonSet was deleted with its history, and no release has ended since: it is unknown which template is the good one. */
function hasLostStable(writes: readonly RecordedWrite[], atMs: number): boolean {
  const until = writes.filter(({ t }) => t <= atMs)
  const deleted = until.findLastIndex(({ kind, type }) => kind === 'DaemonSet' && type === 'DELETED')
  const isHealthy = ({ kind, o }: RecordedWrite): boolean => kind === 'Rollout' && (o as unknown as SeenRollout).status?.phase === 'Healthy'
  return deleted !== -1 && !until.slice(deleted).some(isHealthy)
}

/** Another action has replaced the one that was sent: of two written actions, the later one counts. */
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
  // While the spec, or an object that it names, is invalid or missing, no action is accepted. The exception is an abort while the policy
  // cannot be used.
  if (stall !== undefined && !ofTheRelease.includes(stall.reason ?? '')) return type === 'abort' && isAbortable(rollout, stall.reason)
  if (type === 'abort') return true
  if (type === 'retry') return lifted.includes(stall?.reason ?? '')
  if (status?.failure !== undefined || stall !== undefined) return false
  if (type === 'approve') return currentStepState === 'StepPaused'
  return type === 'promote' || (type === 'jump' && hasStep(rollout, { type, body }))
}

/** Without its policy a release deletes nothing, and people can still abort it (G9), but only once. */
function isAbortable({ status }: SeenRollout, stalled = ''): boolean {
  return ofThePolicy.includes(stalled) && !status?.heldRevisions?.some(({ revision }) => revision === status.canaryStatus?.canaryRevision)
}

/** No release starts without its policy. By then the DaemonSet no longer has the template whose release the status names. */
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

/** The status is about a template or steps that were replaced since. A step that an action names may not exist any more. */
function isOutOfDate(moment: Moment): boolean {
  const { metadata, status } = (moment.rollout ?? {}) as Partial<SeenRollout>
  return isOfReplacedTemplate(moment) || (status?.observedGeneration ?? 0) < (metadata?.generation ?? 0)
}

function isOfReplacedTemplate(moment: Moment): boolean {
  return moment.revisions.size > 0 && !hasTemplateOf(moment)
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
