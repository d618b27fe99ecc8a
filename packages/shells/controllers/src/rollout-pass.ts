import type { Clock } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'
import { type DaemonSet, keyOf, keyText, type ObjectKey, ROLLOUTS_API_VERSION } from '@tranche/kube-types'
import {
  forgedCopiesHold,
  isBehindRelease,
  isForeign,
  isOnTheWayBack,
  isRevisionMissing,
  isRollingBack,
  liveConfigHold,
  PASS_FAILED_TEXT,
  type PlannedEvent,
  planRollout,
  rolloutEvents,
  type RolloutPlan,
  type RolloutView,
  specAfterFailedPasses,
  stopsRelease,
} from '@tranche/planner'
import { awaitChange, type EventRecorder, type ReconcileResult, type Reconcile, recheckAfter } from '@tranche/reconcile'
import { type ConfigPort, readImmutable } from './config-port.ts'
import type { PinPort } from './pins/pin-port.ts'
import type { PodPolicy } from './pins/pod-policy.ts'
import type { PinResult, TimedPinResult } from './pins/pin-result.ts'
import { createPinner, type Pinner } from './pins/pinner.ts'
import { createFailedPlans } from './failed-plans.ts'
import { createRejectedChanges } from './rejected-changes.ts'
import { fieldsOf, logRolloutPlan } from './log-plans.ts'
import type { RolloutPort, RolloutReading } from './rollout-port.ts'

/** Dependencies of {@link createRolloutPass}. */
export interface RolloutParts {
  readonly cluster: RolloutPort
  readonly clock: Clock
  readonly events: EventRecorder
  /** @default no ConfigMap is read, and config is judged by names alone */
  readonly config?: ConfigPort | undefined
  /** @default a policy that asks for pinned config holds its releases */
  readonly pins?: PinPort | undefined
  /** @default the API server names copies in all pods */
  readonly podPolicy?: PodPolicy | undefined
  /** Whether Secrets of a namespace are pinned too. @default they are not */
  readonly mayPinSecrets?: ((namespace: string) => boolean) | undefined
}

/** Drives one Rollout: reads everything, decides, writes one thing. Crash-safe: the next pass resumes (G7). */
export function createRolloutPass(parts: RolloutParts): Reconcile {
  const statusWrittenMs = new Map<string, number>()
  const warnings = new Map<string, string>()
  const revisionMissingSinceMs = new Map<string, number>()
  const failed = createFailedPlans()
  const rejected = createRejectedChanges(parts.clock)
  const pinner = createPinner(parts, parts.clock)
  const { clock, config } = parts
  return async function passOverRollout(key, signal, log) {
    const reading = parts.cluster.read(key)
    if (reading === null) {
      statusWrittenMs.delete(keyText(key))
      warnings.delete(keyText(key))
      revisionMissingSinceMs.delete(keyText(key))
      for (const memory of [failed, rejected, pinner]) memory.forget(keyText(key))
      return awaitChange
    }
    const planned = await failed.watch(
      keyText(key),
      () => planPass(reading, key, signal, log),
      () => stopRelease(reading, parts, signal, log),
    )
    if (planned.kind === 'pending') return recheckAfter(planned.againInMs)
    const { plan, view } = planned
    if (plan.kind !== 'wait') log.debug({ rollout: keyText(key), plan: plan.kind }, 'planned rollout')
    if (restsOnAbsence(plan, view) && (await parts.cluster.releaseExists(view.rollout, signal))) return recheckAfter(UNSEEN_RECHECK_MS)
    await rejected.watch(keyText(key), plan, () => apply(plan, view, parts, signal))
    logRolloutPlan(plan, view.rollout, log)
    warnOnce(warnings, plan, view, parts)
    if (plan.kind === 'writeStatus') statusWrittenMs.set(keyText(key), clock.monotonicMs())
    if (plan.kind === 'patchDaemonSet' && plan.why === 'touch') revisionMissingSinceMs.set(keyText(key), clock.monotonicMs())
    return noLaterThan(planned.pinsRecheckAfterMs, noLaterThan(planned.configRecheckAfterMs, outcomeOf(plan)))
  }

  async function planPass(reading: RolloutReading, key: ObjectKey, signal: AbortSignal, log: Logger): Promise<PlannedPass> {
    const immutable = config === undefined ? null : await readImmutable(config, reading, signal)
    noteMissing(revisionMissingSinceMs, reading, clock)
    const isNewest = isBehindRelease(reading) && (await parts.cluster.isNewest(reading.rollout, signal))
    const read: RolloutView = {
      ...{ ...reading, isNewest },
      ...(immutable !== null && { immutableConfigMaps: immutable.immutable }),
      ...(asksForPins(reading) && { pinsSecrets: parts.mayPinSecrets?.(key.namespace) === true }),
      statusWrittenMs: statusWrittenMs.get(keyText(key)) ?? null,
      revisionMissingSinceMs: revisionMissingSinceMs.get(keyText(key)) ?? null,
      rejected: rejected.of(keyText(key)),
      nowMs: clock.nowMs(),
      monotonicMs: clock.monotonicMs(),
    }
    const pinning = asksForPins(reading) ? await pinFirst(pinner, read, signal, log) : UNPINNED
    if (pinning.kind === 'wrote' || pinning.kind === 'pending') {
      if (waitsForPins(pinner, pinning, read)) return { kind: 'pending', againInMs: pinning.againInMs }
      const view = { ...read, ...pinnedIn(pinner.last(keyText(key)), read, pinner) }
      return { kind: 'planned', plan: planRollout(view), view, pinsRecheckAfterMs: pinning.againInMs, configRecheckAfterMs: undefined }
    }
    const view = pinning.kind === 'stop' ? read : { ...read, ...pinnedIn(pinning, read, pinner) }
    const plan = pinning.kind === 'stop' ? pinning.plan : planRollout(view)
    return { kind: 'planned', plan, view, pinsRecheckAfterMs: pinning.recheckAfterMs, configRecheckAfterMs: immutable?.recheckAfterMs }
  }
}

/** Follows since when the revision of the template has been missing. */
function noteMissing(sinceMs: Map<string, number>, reading: RolloutReading, clock: Clock): void {
  const key = keyText(keyOf(reading.rollout))
  if (!isRevisionMissing(reading)) sinceMs.delete(key)
  else if (!sinceMs.has(key)) sinceMs.set(key, clock.monotonicMs())
}

type PlannedPass =
  | { readonly kind: 'pending'; readonly againInMs: number }
  | {
      readonly kind: 'planned'
      readonly plan: RolloutPlan
      readonly view: RolloutView
      readonly pinsRecheckAfterMs: number | undefined
      readonly configRecheckAfterMs: number | undefined
    }

/** G9: passes that keep failing carry out no pause, so the release deletes nothing until one succeeds. */
async function stopRelease(reading: RolloutReading, { cluster, events }: RolloutParts, signal: AbortSignal, log: Logger): Promise<void> {
  const { release, rollout } = reading
  const spec = release === undefined || isForeign(reading) ? null : specAfterFailedPasses(release)
  if (release === undefined || spec === null) return
  await cluster.updateRelease(release, spec, signal)
  log.error({ ...fieldsOf(release), reason: 'PassFailed' }, 'stopped release')
  record(events, { rollout }, { type: 'Warning', reason: 'PassFailed', message: PASS_FAILED_TEXT })
}

/** Where no policy asks for pins. */
const UNPINNED: TimedPinResult = { kind: 'pinned', rolledBack: [] }

/** What a pass has to do before it plans on: a plan that stops the release, or nothing but to follow the result for its config. */
type PinStep = TimedPinResult | { readonly kind: 'stop'; readonly plan: RolloutPlan; readonly recheckAfterMs?: undefined }

/** No release begins between a template and its pins. But a stop does not wait for requests that pins need (G9). */
async function pinFirst(pinner: Pinner, view: RolloutView, signal: AbortSignal, log: Logger): Promise<PinStep> {
  const known = pinner.known(view)
  if (known !== null && known.kind !== 'pending') return known
  const plan = planRollout({ ...view, ...pinnedIn(pinner.last(keyText(keyOf(view.rollout))), view, pinner) })
  return stopsRelease(plan, view) ? { kind: 'stop', plan } : (known ?? pinner.attempt(view, signal, log))
}

/** A rollback does not wait for copies. But before its first pod, it waits for the comparison of those that the stable template names. */
function waitsForPins(pinner: Pinner, { kind }: PinResult, read: RolloutView): boolean {
  return !isRollingBack(read) || (kind === 'pending' && isOnTheWayBack(read) && !pinner.hasCompared(read))
}

/** Without it, a pass awaits nothing more than before. */
function asksForPins({ policy }: Pick<RolloutReading, 'policy'>): boolean {
  return policy.kind === 'found' && policy.policy.spec.config === 'Pin'
}

type PinnedView = Pick<RolloutView, 'configHold' | 'rolledBackConfig' | 'absentConfig'>

function pinnedIn(pinning: PinResult | null, read: RolloutView, pinner: Pinner): PinnedView {
  const forged = asksForPins(read) ? forgedCopiesHold(read, pinner.forged(keyText(keyOf(read.rollout)))) : null
  if (forged !== null) return { configHold: forged }
  if (pinning?.kind === 'held') return { configHold: { reason: pinning.reason, message: pinning.why } }
  const configHold = asksForPins(read) ? liveConfigHold(read) : null
  return {
    ...(pinning?.kind === 'pinned' && { rolledBackConfig: pinning.rolledBack, absentConfig: pinning.absent ?? [] }),
    ...(configHold !== null && { configHold }),
  }
}

/** The pass comes back for config that must be read again. */
function noLaterThan(recheckAfterMs: number | undefined, result: ReconcileResult): ReconcileResult {
  if (recheckAfterMs === undefined || (result.kind === 'recheckAfter' && result.ms <= recheckAfterMs)) return result
  return recheckAfter(recheckAfterMs)
}

/** Records the warning of a wait when it begins, and again when its text changes. */
function warnOnce(warnings: Map<string, string>, plan: RolloutPlan, view: RolloutView, { events }: RolloutParts): void {
  const key = keyText(keyOf(view.rollout))
  const warning = plan.kind === 'wait' ? plan.warning : undefined
  if (warning !== undefined && warnings.get(key) !== warning.message) record(events, view, warning)
  if (warning === undefined) warnings.delete(key)
  else warnings.set(key, warning.message)
}

/** Recheck delay in milliseconds if the watch is slow to show a BatchRelease that the API server already has. */
const UNSEEN_RECHECK_MS = 500

/**
 * G9: detaching from a DaemonSet, and reporting that, requires that no BatchRelease with a possibly open record exists. The cache cannot
 * distinguish one that is gone from one not seen yet.
 */
function restsOnAbsence(plan: RolloutPlan, { release, rollout }: RolloutView): boolean {
  if (release !== undefined) return false
  if (plan.kind === 'setFinalizer') return !plan.present
  if (plan.kind === 'patchDaemonSet') return plan.why === 'unbind'
  return plan.kind === 'writeStatus' && plan.status.phase === 'Disabled' && rollout.status?.phase !== 'Disabled'
}

async function apply(plan: RolloutPlan, view: RolloutView, { cluster, events }: RolloutParts, signal: AbortSignal): Promise<void> {
  const { rollout } = view
  switch (plan.kind) {
    case 'setFinalizer':
      return cluster.setFinalizer(rollout, plan.present, signal)
    case 'setAnnotations':
      return cluster.setAnnotations(rollout, plan.annotations, signal)
    case 'patchDaemonSet':
      await cluster.patchDaemonSet(plan.daemonSet, plan.patch, signal)
      if (plan.event !== null) recordOnBoth(events, view, plan.daemonSet, plan.event)
      return
    case 'createRelease':
      return cluster.createRelease(rollout, plan.spec, signal)
    case 'updateRelease':
      return view.release === undefined ? undefined : cluster.updateRelease(view.release, plan.spec, signal)
    case 'deleteRelease':
      return view.release === undefined ? undefined : cluster.deleteRelease(view.release, signal)
    case 'writeStatus':
      await cluster.writeStatus(rollout, plan.status, signal)
      for (const event of rolloutEvents(rollout.status, plan.status, plan.warning)) record(events, view, event)
      return
    case 'wait':
      return
    default:
      plan satisfies never
  }
}

function record(events: EventRecorder, { rollout }: Pick<RolloutView, 'rollout'>, { type, reason, message }: PlannedEvent): void {
  const { namespace = '', name, uid } = rollout.metadata
  events.record({ apiVersion: ROLLOUTS_API_VERSION, kind: 'Rollout', namespace, name, uid }, type, reason, message)
}

/** Records the event on both objects: the Rollout may be about to go, and the DaemonSet belongs to the user. */
function recordOnBoth(events: EventRecorder, view: RolloutView, daemonSet: DaemonSet, event: PlannedEvent): void {
  const { namespace = '', name, uid } = daemonSet.metadata
  events.record({ apiVersion: 'apps/v1', kind: 'DaemonSet', namespace, name, uid }, event.type, event.reason, event.message)
  record(events, view, event)
}

/**
 * The response to this process's own write is known at once, so the next pass need not wait for its echo. A deletion has no such response:
 * only the watch shows that the release, or the Rollout whose last finalizer went, is going.
 */
function outcomeOf(plan: RolloutPlan): ReconcileResult {
  if (plan.kind === 'deleteRelease' || (plan.kind === 'setFinalizer' && !plan.present)) return awaitChange
  if (plan.kind !== 'wait') return recheckAfter(0)
  return plan.recheckAfterMs === null ? awaitChange : recheckAfter(plan.recheckAfterMs)
}
