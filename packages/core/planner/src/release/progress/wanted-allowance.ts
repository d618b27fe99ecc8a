import { type BatchRelease, type GroupWaitReason, type Hold, sizeLimits } from '@tranche/api-schema'
import { type Allowance, MAX_LIMIT, batchScope, begunAt, scopeTextOf } from '@tranche/fence'
import { daemonSetAnnotations, type DaemonSet, type IntOrString, rolloutOf, scaleIntOrPercent, clipText } from '@tranche/kube-types'
import { problemsText, problemText, validateBatchRelease, validateDaemonSetBudget } from '@tranche/validation'
import { judgedRelease } from '@tranche/verdict'
import { strategyOf } from '../view/daemon-set-patch.ts'
import { batchProgress, type BatchProgress } from './batch-progress.ts'
import { controlledBy, type ReleaseView } from '../view/release-view.ts'
import { revisionsOfRelease } from '../view/revisions-of-release.ts'
import { mayMissNodes } from './unseen-nodes.ts'
import { isBehindRecord } from './is-behind-record.ts'
import { judgementOf } from './judgement.ts'
import { isAtEnd, isFinalized, isStatusOfRelease } from '../view/is-finalized.ts'
import { isMidSurge, strategyDrift } from './strategy-drift.ts'
import { excusedAtEnd, leftBehind } from './the-end.ts'
import { GROUP_BUSY } from './group-rules.ts'
import { groupWait } from './group-text.ts'
import { needsGroup } from './needs-group.ts'
import { groupNameOf } from '../view/group-view.ts'

/** What a BatchRelease should allow now, by its spec and the cluster. */
export type Wanted =
  | { readonly kind: 'allow'; readonly allowance: Allowance; readonly stable: string; readonly progress: BatchProgress }
  /** Nothing may be deleted; each hold says why and is lifted only by its own cause (F9). */
  | {
      readonly kind: 'stop'
      readonly holds: readonly Hold[]
      readonly message: string
      /** Reason of the wait, if it says more than that of the hold. */
      readonly waits?: GroupWaitReason
    }
  /** The cluster has not caught up; the allowance stays as it is, and F1 keeps executors idle. */
  | { readonly kind: 'pending'; readonly message: string }

type Stop = Wanted & { readonly kind: 'stop' }

/** Reasons why nothing may be deleted, in order of precedence: a stop depends on nothing else, so they come before the allowance. */
const reasonsToStop: readonly ((view: ReleaseView, daemonSet: DaemonSet) => Stop | null)[] = [
  deletion,
  foreignControl,
  holdOfRollout,
  driftStop,
  pause,
  failure,
  brokenRules,
  budgetOfNothing,
]

/** Computes what the release should allow. */
export function wantedAllowance(view: ReleaseView): Wanted {
  const { daemonSet, release } = view
  if (daemonSet === undefined) return stop('WorkloadNotFound', release.spec.workloadRef?.name ?? '', 'the DaemonSet does not exist')
  for (const reason of reasonsToStop) {
    const stopped = reason(view, daemonSet)
    if (stopped !== null) return stopped
  }
  const wanted = allowanceFor(view, daemonSet, resolveLimit(daemonSet, view.fleet.desired, overrideOf(release)))
  return wanted.kind === 'allow' && needsGroup(view, wanted.progress) ? stopForGroup(view) : wanted
}

function stopForGroup(view: ReleaseView): Stop {
  const { reason, message } = groupWait(view)
  return { ...stop(GROUP_BUSY, groupNameOf(view.release) ?? '', message), waits: reason }
}

function deletion({ release: { metadata } }: ReleaseView): Stop | null {
  return metadata.deletionTimestamp === undefined ? null : stop('Deleting', metadata.uid, 'the BatchRelease is being deleted')
}

/**
 * Detects another BatchRelease that is, or seems to be, in charge. A Rollout's release takes over from a BatchRelease that
 * vanished (F11). One written by hand never does, nor does it touch a DaemonSet that is bound to a Rollout.
 */
function foreignControl({ release, otherControl }: ReleaseView, daemonSet: DaemonSet): Stop | null {
  const id = controlledBy(daemonSet)?.uid ?? ''
  if (otherControl === 'exists') return stop('ForeignControl', id, `${controlText(daemonSet)}; delete that BatchRelease first`)
  const owner = rolloutOf(release)
  const boundTo = daemonSet.metadata.annotations?.[daemonSetAnnotations.rollout]
  if (boundTo !== undefined && owner?.name !== boundTo) {
    return stop('ForeignControl', boundTo, `the DaemonSet is bound to the Rollout ${boundTo}, and this BatchRelease does not belong to it`)
  }
  if (owner !== undefined || otherControl === 'none') return null
  return stop('ForeignControl', id, `${controlText(daemonSet)}, which no longer exists; remove the annotation first`)
}

/** Whether the BatchRelease of a Rollout takes the place of another one, which vanished while it was in charge. */
export function takesOver(view: ReleaseView, daemonSet: DaemonSet): boolean {
  return view.otherControl === 'vanished' && foreignControl(view, daemonSet) === null
}

function holdOfRollout({ release }: ReleaseView): Stop | null {
  const { hold } = release.spec.tranche ?? {}
  return hold === undefined ? null : stop(hold.reason, hold.id, hold.message)
}

function driftStop(view: ReleaseView, daemonSet: DaemonSet): Stop | null {
  const drift = strategyDrift(view)
  if (drift.kind !== 'givenIn' || isAllUpdated(view, daemonSet)) return null
  return stop('StrategyConflict', String(drift.recorded.rounds), drift.message)
}

/** Whether the release is finishing with no node left: a changed strategy then takes no pod, and is the user's again at the end. */
function isAllUpdated(view: ReleaseView, daemonSet: DaemonSet): boolean {
  if (!isAtEnd(view.release) || !isStatusOfRelease(view.release)) return false
  if ((view.release.status?.flight?.permits.length ?? 0) > 0) return false
  const wanted = allowanceFor(view, daemonSet, 1)
  if (wanted.kind !== 'allow' || wanted.progress.state !== 'Ready') return false
  return wanted.progress.old.length === 0 && leftBehind(view, wanted.progress) === null
}

function pause({ release }: ReleaseView): Stop | null {
  return release.spec.tranche?.paused === true ? stop('Paused', generationOf(release), 'paused by spec.strategy.paused') : null
}

/** A verdict waits for a retry, for `autoResume`, or for another template where the release is by hand, even if nodes recover. */
function failure(view: ReleaseView, daemonSet: DaemonSet): Stop | null {
  const stops = isOvertakenByHand(view, daemonSet) ? null : (judgementOf(view)?.stops ?? null)
  return stops === null ? null : stop(stops.reason, judgedRelease(view.release), stops.message)
}

/** A Rollout renames its BatchRelease with each template; one written by hand follows the present template. */
function isOvertakenByHand(view: ReleaseView, daemonSet: DaemonSet): boolean {
  const { spec, status } = view.release
  if (spec.tranche?.release !== undefined || status?.flight === undefined) return false
  const discovery = revisionsOfRelease(view, daemonSet)
  return discovery.kind === 'found' && discovery.canary !== status.flight.revision
}

function brokenRules({ release }: ReleaseView): Stop | null {
  const problems = validateBatchRelease(release)
  const [first] = problems
  return first === undefined ? null : stop(first.reason, generationOf(release), problemsText(problems))
}

function budgetOfNothing({ fleet, release }: ReleaseView, daemonSet: DaemonSet): Stop | null {
  const [problem] = validateDaemonSetBudget(daemonSet, fleet.desired, overrideOf(release))
  return problem === undefined ? null : stop('BudgetZero', generationOf(daemonSet), problemText(problem))
}

/** Override of the DaemonSet's own maxUnavailable. */
function overrideOf({ spec }: BatchRelease): IntOrString | undefined {
  return spec.tranche?.maxUnavailable
}

function generationOf({ metadata }: { readonly metadata: { readonly generation?: number } }): string {
  return String(metadata.generation ?? 0)
}

function isBound({ release }: ReleaseView, { metadata }: DaemonSet): boolean {
  return rolloutOf(release) === undefined || metadata.annotations?.[daemonSetAnnotations.rollout] !== undefined
}

/**
 * The effective maxUnavailable. It is the override, else `rollingUpdate.maxUnavailable` (the API keeps it under OnDelete),
 * else 1. A percentage counts the nodes desired now and is rounded up. The result is in 1…{@link MAX_LIMIT}.
 */
export function resolveLimit(daemonSet: DaemonSet, desired: number, override?: IntOrString): number {
  const maxUnavailable = override ?? daemonSet.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1
  return Math.max(1, Math.min(scaleIntOrPercent(maxUnavailable, desired) ?? 1, MAX_LIMIT))
}

function allowanceFor(view: ReleaseView, daemonSet: DaemonSet, limit: number): Wanted {
  const { release } = view
  // Without the binding nothing would restore the strategy; a recreated DaemonSet has lost it.
  if (!isBound(view, daemonSet)) return { kind: 'pending', message: 'waiting for the Rollout to bind the DaemonSet' }
  // Other definitions have pruned it, with the limits and the nodes that its policy sets.
  if (rolloutOf(release) !== undefined && release.spec.tranche?.release === undefined)
    return { kind: 'pending', message: 'waiting for the Rollout to name its release' }
  if (strategyOf(daemonSet) !== 'OnDelete' && isMidSurge(view.fleet))
    return { kind: 'pending', message: 'waiting until no node has two pods: the rolling update under way uses maxSurge' }
  const discovery = revisionsOfRelease(view, daemonSet)
  if (discovery.kind === 'pending') return { kind: 'pending', message: pendingMessage(discovery.why) }
  const canary = release.spec.tranche?.canaryRevision ?? discovery.canary
  if (canary !== discovery.canary) {
    return stop('RevisionChanged', discovery.canary, `the DaemonSet's template is now revision ${discovery.canary}, not ${canary}`)
  }
  const batch = release.spec.releasePlan.batchPartition ?? null
  const nodes = release.spec.tranche?.nodes
  const stable = release.spec.tranche?.stableRevision ?? discovery.stable
  const record = release.status?.flight
  const counted = batchProgress({
    fleet: view.fleet,
    revision: canary,
    stable,
    former: release.spec.tranche?.formerRevisions,
    begunAt: begunAt(release),
    permits: record?.permits,
    plan: release.spec.releasePlan,
    batch,
    nodes,
    minReadyMs: (daemonSet.spec.minReadySeconds ?? 0) * 1000,
    monotonicMs: view.monotonicMs,
    excused: judgementOf(view)?.excused ?? excusedAtEnd(view, canary),
  })
  const generation = daemonSet.metadata.generation ?? 0
  const scope = scopeTextOf(batchScope(nodes, batch))
  const behind = behindIn(view, { canary, counted })
  const progress: BatchProgress = behind === null ? counted : { ...counted, state: 'Upgrading', behind }
  const { size, outside, partition } = progress
  const counts = { size, partition, ...(outside > 0 && { outside }) }
  const allowance = { workloadUid: daemonSet.metadata.uid, generation, revision: canary, ...counts, limit, scope }
  return { kind: 'allow', allowance, stable, progress }
}

function behindIn(
  view: ReleaseView,
  { canary, counted }: { readonly canary: string; readonly counted: BatchProgress },
): NonNullable<BatchProgress['behind']> | null {
  const record = view.release.status?.flight
  if (record !== undefined && isBehindRecord(view, record, canary)) return 'pods'
  if (judgementOf(view)?.isInDoubt === true) return 'loss'
  const isNewlyReady = counted.state === 'Ready' && !isKnownReady(view) && !isFinalized(view)
  return isNewlyReady && mayMissNodes(view) ? 'nodes' : null
}

/**
 * Whether the batch was ready before. A node that joins then, which the DaemonSet controller sees first, begins no soak again. Nor are nodes
 * listed for other steps or rules of nodes that come then.
 */
function isKnownReady({ release }: ReleaseView): boolean {
  const { canaryStatus, phase } = release.status ?? {}
  const { batchPartition } = release.spec.releasePlan
  if (!isStatusOfRelease(release) || canaryStatus?.batchState !== 'Ready') return false
  return batchPartition === undefined ? phase === 'Finalizing' : canaryStatus.currentBatch === batchPartition
}

function pendingMessage(why: 'generation' | 'revision'): string {
  return why === 'generation'
    ? 'waiting for the DaemonSet controller to observe the latest generation'
    : 'waiting for the ControllerRevision of the current template'
}

function controlText(daemonSet: DaemonSet): string {
  const control = controlledBy(daemonSet)
  const names = control === undefined ? 'names something that cannot be read' : `names BatchRelease ${control.name}`
  return `the annotation ${daemonSetAnnotations.controlInfo} ${names}`
}

/** Cuts what users wrote, such as a hold or the name in an annotation: status and record repeat it. */
function stop(reason: string, id: string, message: string): Stop {
  const hold = { reason: clipText(reason, sizeLimits.reason), id: clipText(id, sizeLimits.identity) }
  return { kind: 'stop', holds: [hold], message: clipText(message, sizeLimits.message) }
}
