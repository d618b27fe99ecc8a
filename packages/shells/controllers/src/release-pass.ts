import type { BatchRelease, FlightRecord, Permit, Waiting } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import { type Allowance, createRecord, type RecordedAllowance, recordTouches, type TouchedPermit, widenRecord } from '@tranche/fence'
import { type DaemonSet, keyText, newerResourceVersion, type ObjectKey, rolloutOf } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import {
  type BatchReleasePlan,
  type BatchReleaseStatusPatch,
  PASS_FAILED_TEXT,
  planBatchRelease,
  type PodLabels,
  QUEUE_UNAVAILABLE,
  recordAfterFailedPasses,
  releaseStatusPatch,
  type ReleaseView,
} from '@tranche/planner'
import { awaitChange, type EventRecorder, type ReconcileResult, type Reconcile, recheckAfter } from '@tranche/reconcile'
import { confirmAndWrite, UNCLEAR_RECHECK_MS } from './confirm-record.ts'
import { createFailedPlans } from './failed-plans.ts'
import { freeGroup } from './free-group.ts'
import { listUnseenNodes } from './list-nodes.ts'
import { fieldsOf } from './log-plans.ts'
import { isLostRace, patchDaemonSetOf } from './patch-daemon-set-of.ts'
import { memoryOf, type ReleaseMemory, viewOf } from './release-memory.ts'
import type { ReleasePort, ReleaseReading, TouchablePod } from './release-port.ts'
import { removeFinalizer } from './remove-finalizer.ts'
import { restingOn, restoreRecord, touchStandingPods } from './restore-record.ts'
import { outcomeOfRecord, writeReleaseRecord } from './write-record.ts'

/** Dependencies of {@link createReleasePass}. */
export interface ReleasePassParts {
  readonly cluster: ReleasePort
  readonly clock: Clock
  readonly events: EventRecorder
}

/**
 * Time during which a pass starts touches, in milliseconds. Then it writes the responses so far, so that a successor need not repeat them.
 */
const TOUCHING_MS = 5_000
/** Retry delay of a pod that could not be labelled, in milliseconds. */
const UNLABELLED_RECHECK_MS = 30_000
/** Delay (ms) before a Lease that could not be given up is written again. */
const LEAVE_AGAIN_MS = 30_000
/** Delay (ms) before a Lease that could not be taken is tried again. Meanwhile the status says why. */
const TAKE_AGAIN_MS = 10_000
/** Retry delay of the leaked mark, in milliseconds: it is set before the pod is Ready, or not at all. */
const UNMARKED_RECHECK_MS = 1_000

/** Drives one BatchRelease: reads everything, decides, writes one thing. Crash-safe: the next pass resumes (G7). */
export function createReleasePass(parts: ReleasePassParts): Reconcile {
  const memories = new Map<string, ReleaseMemory>()
  const failed = createFailedPlans()
  return async function passOverRelease(key, signal, log) {
    const reading = await parts.cluster.read(key, signal)
    if (reading === null) {
      memories.delete(keyText(key))
      failed.forget(keyText(key))
      return awaitChange
    }
    const memory = memoryOf(memories, key, parts.clock)
    const toView = (read: ReleaseReading): ReleaseView => viewOf(read, memory, parts.clock)
    const { view, plan } = await failed.watch(
      keyText(key),
      async () => planned(toView(reading)),
      () => stopRelease(reading.release, { ...parts, signal, log }),
    )
    if (plan.kind !== 'wait') log.debug({ batchRelease: keyText(key), plan: plan.kind, ...whyOf(plan) }, 'planned release')
    return apply(plan, view, { ...parts, key, signal, log, toView, memory })
  }
}

function planned(view: ReleaseView): { readonly view: ReleaseView; readonly plan: BatchReleasePlan } {
  return { view, plan: planBatchRelease(view) }
}

/** G9: passes that keep failing carry out no stop, so nothing more is deleted until one succeeds. */
async function stopRelease(release: BatchRelease, doing: ReleasePassParts & Pick<Doing, 'signal' | 'log'>): Promise<void> {
  const record = recordAfterFailedPasses(release)
  if (record === null) return
  await writeReleaseRecord(release, record, 'stop', doing)
  const owner = rolloutOf(release)
  if (owner === undefined) return
  const { namespace = '' } = release.metadata
  doing.events.record({ ...owner, namespace }, 'Warning', 'PassFailed', PASS_FAILED_TEXT)
}

interface Doing extends ReleasePassParts {
  /** Logger of this pass. */
  readonly log: Logger
  readonly key: ObjectKey
  readonly signal: AbortSignal
  readonly toView: (reading: ReleaseReading) => ReleaseView
  readonly memory: ReleaseMemory
}

async function apply(plan: BatchReleasePlan, view: ReleaseView, doing: Doing): Promise<ReconcileResult> {
  const { cluster, signal } = doing
  switch (plan.kind) {
    case 'setFinalizer':
      return plan.present ? addFinalizer(view, doing) : removeFinalizer(view.release, doing)
    case 'patchDaemonSet':
      await patchDaemonSetOf(plan, { ...view, daemonSet: daemonSetOf(view) }, doing)
      return again
    case 'createRecord':
      return createFirstRecord(plan.allowance, view, doing)
    case 'restoreRecord':
      return restored(await restoreRecord(plan, { ...view, daemonSet: daemonSetOf(view) }, doing))
    case 'writeRecord':
      return plan.confirm
        ? confirmAndWrite(plan, view, { ...doing, noteStatus: (status) => noteStatus(status, view, doing) })
        : writeReleaseRecord(view.release, plan.record, plan.why, doing)
    case 'touchPermits':
      return touchPermits(plan.permits, plan.lowerTo, view, doing)
    case 'touchOldPods':
      return touchOldPods(plan.next, view, doing)
    case 'labelPods':
      return plan.confirm ? confirmAndLabel(doing) : labelPods(plan.pods, view, doing)
    case 'takeGroup':
      return takeGroup(plan.lease, view, doing)
    case 'freeGroup':
      return leaveGroup(plan.lease, doing)
    case 'listNodes':
      doing.memory.nodeList = await listUnseenNodes(view, daemonSetOf(view), doing)
      return again
    case 'writeStatus':
      await cluster.patchStatus(view.release, releaseStatusPatch(view.release, plan.status), signal)
      noteStatus(plan.status, view, doing)
      return again
    case 'reportDrift':
      await cluster.patchStatus(view.release, releaseStatusPatch(view.release, plan.status), signal)
      warnAboutDrift(plan.message, view, doing)
      return again
    case 'wait':
      return waitOutcome(plan.recheckAfterMs, doing)
    default:
      return plan satisfies never
  }
}

/** Also rechecks a pod that could not be labelled. */
function waitOutcome(recheckAfterMs: number | null, { memory, clock }: Doing): ReconcileResult {
  const labelMs = Math.max(0, memory.labels.nextTryMs() - clock.monotonicMs())
  const soonestMs = Math.min(recheckAfterMs ?? Number.POSITIVE_INFINITY, labelMs)
  return Number.isFinite(soonestMs) ? recheckAfter(soonestMs) : awaitChange
}

/** The response to this process's own write is known at once, so the next pass need not wait for its echo. */
const again: ReconcileResult = recheckAfter(0)

/** G13: a lost race is a conflict, after which the pass reads the Lease again. The status says after any other error why the release waits. */
async function takeGroup(name: string, view: ReleaseView, doing: Doing): Promise<ReconcileResult> {
  const { cluster, clock, memory, signal, log } = doing
  try {
    await cluster.takeLease(name, view.group?.lease ?? null, view.release, signal)
  } catch (error) {
    if (signal.aborted || isLostRace(error) || !isAppError(error)) throw error
    memory.takeFailure = { lease: name, why: error.message, againMs: clock.monotonicMs() + TAKE_AGAIN_MS }
    log.warn({ ...fieldsOf(view.release), lease: name, err: error }, 'could not take group')
    return again
  }
  memory.takeFailure = null
  log.info({ ...fieldsOf(view.release), lease: name }, 'took group')
  return again
}

/** G9: a Lease that cannot be written keeps no stop from being acknowledged, and no release from being deleted. */
async function leaveGroup(name: string, doing: Doing): Promise<ReconcileResult> {
  const { cluster, clock, memory, signal, log, key } = doing
  try {
    return await freeGroup(name, { ...doing, groups: cluster })
  } catch (error) {
    if (signal.aborted || isLostRace(error)) throw error
    memory.leaveAgainMs = clock.monotonicMs() + LEAVE_AGAIN_MS
    log.warn({ batchRelease: keyText(key), lease: name, err: error }, 'could not free group')
    return again
  }
}

/** Records the warning on both the DaemonSet that was changed and the Rollout of the release. */
function warnAboutDrift(message: string, view: ReleaseView, { events }: Doing): void {
  const { namespace = '', name, uid } = daemonSetOf(view).metadata
  events.record({ apiVersion: 'apps/v1', kind: 'DaemonSet', namespace, name, uid }, 'Warning', 'StrategyConflict', message)
  const owner = rolloutOf(view.release)
  if (owner !== undefined) events.record({ ...owner, namespace }, 'Warning', 'StrategyConflict', message)
}

/** Records one event per outage during which the release waits. */
function warnOfQueue(waiting: Waiting | null | undefined, { release }: ReleaseView, { events }: Doing): void {
  const owner = rolloutOf(release)
  if (owner === undefined || waiting?.reason !== QUEUE_UNAVAILABLE || release.status?.waiting?.reason === QUEUE_UNAVAILABLE) return
  const { namespace = '' } = release.metadata
  events.record({ ...owner, namespace }, 'Warning', 'QueueUnavailable', waiting.message)
}

async function addFinalizer({ release }: ReleaseView, { cluster, signal }: Doing): Promise<ReconcileResult> {
  await cluster.setFinalizer(release, true, signal)
  return again
}

/** Decides the leaked marks from the current record: its watch may lag behind the watch of pods. */
async function confirmAndLabel(doing: Doing): Promise<ReconcileResult> {
  const live = await doing.cluster.readLive(doing.key, doing.signal)
  if (live === null) return recheckAfter(UNCLEAR_RECHECK_MS)
  const view = doing.toView(live)
  const plan = planBatchRelease(view)
  return plan.kind === 'labelPods' ? labelPods(plan.pods, view, doing) : recheckAfter(UNCLEAR_RECHECK_MS)
}

/**
 * Labels each pod on its own. Only readers of pods need the labels, so a pod that cannot be labelled delays nothing else. A pod that has
 * changed meanwhile is left until the watch shows it, which may be minutes late.
 */
async function labelPods(pods: readonly PodLabels[], { fleet }: ReleaseView, doing: Doing): Promise<ReconcileResult> {
  const { cluster, memory, clock, log, key, signal } = doing
  await Promise.all(
    pods.map(async (pod) => {
      try {
        if (await cluster.labelPod(pod, signal)) memory.labels.put(pod)
        else memory.labels.refused(pod, fleet, Number.POSITIVE_INFINITY)
      } catch (error) {
        signal.throwIfAborted()
        log.warn({ batchRelease: keyText(key), pod: pod.name, err: error }, 'could not label pod')
        const recheckMs = pod.resourceVersion === null ? UNLABELLED_RECHECK_MS : UNMARKED_RECHECK_MS
        memory.labels.refused(pod, fleet, clock.monotonicMs() + recheckMs)
      }
    }),
  )
  return again
}

/** F2: the watermark of the first record is the highest version of a live pod list. */
async function createFirstRecord(allowance: Allowance, view: ReleaseView, doing: Doing): Promise<ReconcileResult> {
  const pods = await doing.cluster.listPods(daemonSetOf(view), doing.signal)
  const watermark = pods.map(({ resourceVersion }) => resourceVersion).reduce(newerResourceVersion, '0')
  return writeReleaseRecord(view.release, createRecord(allowance, watermark), 'create', doing)
}

function noteStatus({ waiting }: BatchReleaseStatusPatch, view: ReleaseView, doing: Doing): void {
  doing.memory.statusWrittenMs = doing.clock.monotonicMs()
  warnOfQueue(waiting, view, doing)
}

/** F8, F10: touches the pods, then writes what the responses allow. */
async function touchPermits(
  permits: readonly Permit[],
  lowerTo: RecordedAllowance | null,
  view: ReleaseView,
  doing: Doing,
): Promise<ReconcileResult> {
  const record = recordOf(view.release)
  const touched = await touchAll(permits, view, doing)
  const unclear = noteUnclear(touched, doing)
  const erased = recordTouches(record, touched)
  const done = unclear === null && lowerTo !== null ? widenRecord(erased, lowerTo) : erased
  const moved = done.state !== record.state || done.permits.length !== record.permits.length || (lowerTo !== null && unclear === null)
  if (!moved) return recheckAfter(UNCLEAR_RECHECK_MS)
  const outcome = await writeReleaseRecord(view.release, done, 'touch', doing)
  return unclear === null ? outcome : recheckAfter(UNCLEAR_RECHECK_MS)
}

/** F8: an inconclusive touch is retried, and the status names the pod. */
function noteUnclear(touched: readonly TouchedPermit[], { key, log, memory }: Doing): string | null {
  const unclear = touched.filter(({ answer }) => answer.kind === 'unclear')
  memory.unclear = unclear[0] === undefined ? null : unclearText(unclear[0], unclear.length - 1)
  if (memory.unclear !== null) log.warn({ batchRelease: keyText(key), why: memory.unclear }, 'got no clear answer to touch of pod')
  return memory.unclear
}

/**
 * Takes pod names from a live list of the namespace by uid. A pod that the watch has not shown yet, or that lost its owner, must not
 * count as gone.
 */
async function touchAll(permits: readonly Permit[], view: ReleaseView, { cluster, signal }: Doing): Promise<readonly TouchedPermit[]> {
  if (permits.length === 0) return []
  const uids = new Set(permits.map(({ podUid }) => podUid))
  const pods = new Map((await cluster.findPods(view.release.metadata.namespace ?? '', uids, signal)).map((pod) => [pod.uid, pod]))
  const touched = await Promise.all(
    standingFirst(permits, pods).map(async (permit): Promise<TouchedPermit> => {
      const pod = pods.get(permit.podUid)
      return { permit, answer: pod === undefined ? { kind: 'executed' } : await cluster.touchPod(pod, signal, TOUCHING_MS) }
    }),
  )
  // Requests that this process aborted say nothing about the pods.
  signal.throwIfAborted()
  return touched
}

/**
 * Puts permits with an existing pod first: they leave the record when touched, while the others would be queried again and again before
 * them.
 */
function standingFirst(permits: readonly Permit[], pods: ReadonlyMap<string, TouchablePod>): readonly Permit[] {
  const isGoing = ({ podUid }: Permit): boolean => pods.get(podUid)?.terminating !== false
  return [...permits.filter((permit) => !isGoing(permit)), ...permits.filter(isGoing)]
}

/** F11: once every old pod was touched, no delete of a lost record can be accepted. */
async function touchOldPods(next: BatchReleasePlan, view: ReleaseView, doing: Doing): Promise<ReconcileResult> {
  const answers = await touchStandingPods(daemonSetOf(view), doing)
  return answers === null ? recheckAfter(UNCLEAR_RECHECK_MS) : apply(restingOn(next, answers), view, doing)
}

function restored(written: boolean | null): ReconcileResult {
  return written === null ? recheckAfter(UNCLEAR_RECHECK_MS) : outcomeOfRecord(written)
}

function daemonSetOf({ daemonSet }: ReleaseView): DaemonSet {
  if (daemonSet === undefined) throw new Error('a pass was planned without its DaemonSet')
  return daemonSet
}

function recordOf({ status }: BatchRelease): FlightRecord {
  if (status?.flight === undefined) throw new Error('a pass was planned without a record')
  return status.flight
}

function unclearText(first: TouchedPermit, more: number): string {
  return `the pod on ${first.permit.node}${more === 0 ? '' : ` and ${more} more`} (${reasonOf(first)})`
}

function reasonOf({ answer }: TouchedPermit): string {
  return answer.kind === 'unclear' ? answer.why : answer.kind
}

function whyOf(plan: BatchReleasePlan): { readonly reason?: string } {
  return 'why' in plan ? { reason: plan.why } : {}
}
