import type { RecordedWrite, Stall } from '@tranche/recording'
import type { Asked } from './callers.ts'
import type { Violation } from './judge.ts'

/** What is known of a run beside what was written and asked. Moments are epoch milliseconds by the recording's clock. */
export interface RefusalFacts {
  /** From then on nothing goes wrong. */
  readonly calmFromMs: number
  /** When our programs stood still. */
  readonly stalls: readonly Stall[]
}

/**
 * Actions over REST that were refused or left unanswered without a reason (G7). A refusal needs one moment, from when the action was sent until
 * it was refused, at which the Rollout did not allow the action: another step or revision than the action names, no release, a release that
 * failed, a step that does not wait. `WISH_PENDING` needs an action that has no answer. In the calm every request is answered, unless a
 * process of the API stood still. An action in whose place another was written is refused by right, and an abort between a
 * deletion of the DaemonSet and the end of the next release: nothing tells which template is to be put back.
 *
 * Knows the rules from docs/wishes.md, and shares no code with what refuses.
 */
export function findWrongRefusals(
  writes: readonly RecordedWrite[],
  asked: readonly Asked[],
  { calmFromMs, stalls }: RefusalFacts,
): readonly Violation[] {
  const rollouts = writes.filter(({ kind }) => kind === 'Rollout')
  return asked.flatMap((one): readonly Violation[] => {
    const { key, type, sentMs, outcome } = one
    if (outcome.kind === 'unanswered') {
      const stood = stalls.some(({ actor, toMs }) => actor.startsWith('api-') && toMs >= sentMs)
      if (sentMs < calmFromMs || stood) return []
      return [{ guarantee: 'G7', atMs: sentMs, text: `the ${type} ${key} was never answered: ${outcome.code}` }]
    }
    if (outcome.kind !== 'refused') return []
    const allows = outcome.code === 'WISH_PENDING' ? isAnswered : judgedCodes.includes(outcome.code) ? allowsIt : undefined
    if (allows === undefined) return []
    const versions = versionsBetween(rollouts, sentMs, outcome.atMs)
    if (type === 'abort' && outcome.code !== 'WISH_PENDING' && hasLostStable(writes, outcome.atMs)) return []
    if (versions.length === 0 || isReplaced(versions) || !versions.every((version) => version !== undefined && allows(version, one)))
      return []
    return [
      { guarantee: 'G7', atMs: outcome.atMs, text: `the ${type} ${key} was refused with ${outcome.code}, though nothing spoke against it` },
    ]
  })
}

/** What a retry lifts. */
const lifted: readonly string[] = ['ReleaseFailed', 'AnalysisInconclusive', 'StrategyContested', 'RevisionHeld']
/** Reasons of `Stalled` that are of the release, and not of what was written. */
const ofTheRelease: readonly string[] = [...lifted, 'AnalysisFailed', 'PodsStuck', 'BudgetZero']

/** Codes that say that the action does not fit what the release does. */
const judgedCodes: readonly string[] = ['MOVED_ON', 'WISH_REFUSED']

/** As far as this judge reads it. */
interface SeenRollout {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>>; readonly deletionTimestamp?: string }
  readonly spec: {
    readonly disabled?: boolean
    readonly strategy?: { readonly paused?: boolean; readonly canary?: { readonly steps?: readonly unknown[] } }
  }
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[]
    readonly failure?: object
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

/** @returns the version that stood at `fromMs` and each that followed until `toMs`; undefined where there was no Rollout */
function versionsBetween(rollouts: readonly RecordedWrite[], fromMs: number, toMs: number): readonly (SeenRollout | undefined)[] {
  const first = rollouts.findLastIndex(({ t }) => t < fromMs)
  return rollouts
    .slice(Math.max(0, first))
    .filter(({ t }) => t <= toMs)
    .map(({ type, o }) => (type === 'DELETED' ? undefined : (o as unknown as SeenRollout)))
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
  // While the spec, or what it names, cannot be acted on, no action is taken.
  if (stall !== undefined && !ofTheRelease.includes(stall.reason ?? '')) return false
  if (type === 'abort') return true
  if (type === 'retry') return lifted.includes(stall?.reason ?? '')
  if (status?.failure !== undefined || stall !== undefined) return false
  if (type === 'approve') return currentStepState === 'StepPaused'
  if (type === 'jump') return body.step !== undefined && body.step >= 1 && body.step <= (spec.strategy?.canary?.steps?.length ?? 0)
  return type === 'promote'
}

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
