import type { BatchRelease, FlightRecord, Permit } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { type Allowance, createRecord, recordTouches, type TouchedPermit, widenRecord } from '@tranche/flight'
import { type DaemonSet, keyText, newerResourceVersion, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
import { type BatchReleasePlan, planBatchRelease, releaseStatusPatch, type ReleaseView } from '@tranche/planner'
import { awaitChange, type Outcome, type Reconcile, recheckAfter } from '@tranche/reconcile'
import type { ReleasePort, ReleaseReading } from './release-port.ts'

/** What the BatchRelease reconciler is made of. */
export interface ReleaseParts {
  readonly cluster: ReleasePort
  readonly clock: Clock
  readonly log: Logger
}

/** Pods whose touch got no clear answer are touched again after this long. */
const UNCLEAR_RECHECK_MS = 500
/** A record that somebody else wrote is read again by its watch; this is for the case that it is slow. */
const OVERTAKEN_RECHECK_MS = 1_000

/** Drives one BatchRelease: read everything, decide, write one thing. */
export function createReleasePass(parts: ReleaseParts): Reconcile {
  const memories = new Map<string, Memory>()
  return async function passOverRelease(key, signal) {
    const reading = await parts.cluster.read(key)
    if (reading === null) {
      memories.delete(keyText(key))
      return awaitChange
    }
    const memory = memoryOf(memories, key)
    const toView = (read: ReleaseReading): ReleaseView => viewOf(read, memory, parts.clock)
    const view = toView(reading)
    const plan = planBatchRelease(view)
    if (plan.kind !== 'wait') parts.log.info({ batchRelease: keyText(key), plan: plan.kind, ...whyOf(plan) }, 'planned release')
    return apply(plan, view, { ...parts, key, signal, toView, memory })
  }
}

/** What this process remembers of its own writes, to save requests; nothing is decided by it that matters (G7). */
interface Memory {
  statusWrittenMs: number | null
  readonly labelled: Set<string>
}

interface Doing extends ReleaseParts {
  readonly key: ObjectKey
  readonly signal: AbortSignal
  readonly toView: (reading: ReleaseReading) => ReleaseView
  readonly memory: Memory
}

function memoryOf(memories: Map<string, Memory>, key: ObjectKey): Memory {
  const memory = memories.get(keyText(key)) ?? { statusWrittenMs: null, labelled: new Set<string>() }
  memories.set(keyText(key), memory)
  return memory
}

/** A pod whose labels the watch has shown, or that is gone, need not be remembered. */
function viewOf(reading: ReleaseReading, memory: Memory, clock: Clock): ReleaseView {
  if (memory.labelled.size > 0) {
    const bare = new Set(
      reading.fleet.nodes.flatMap((node) => node.pods.filter(({ rolloutId }) => rolloutId === undefined).map(({ uid }) => uid)),
    )
    for (const uid of memory.labelled) if (!bare.has(uid)) memory.labelled.delete(uid)
  }
  return { ...reading, ...memory, nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
}

async function apply(plan: BatchReleasePlan, view: ReleaseView, doing: Doing): Promise<Outcome> {
  const { cluster, signal } = doing
  switch (plan.kind) {
    case 'setFinalizer':
      await cluster.setFinalizer(view.release, plan.present, signal)
      return plan.present ? again : awaitChange
    case 'patchDaemonSet':
      await cluster.patchDaemonSet(daemonSetOf(view), plan.patch, signal)
      return again
    case 'createRecord':
      return createFirstRecord(plan.allowance, view, doing)
    case 'writeRecord':
      return plan.confirm ? confirmAndWrite(plan, doing) : outcomeOfRecord(await cluster.writeRecord(view.release, plan.record, signal))
    case 'touchPermits':
      return touchPermits(plan.permits, plan.lowerTo, view, doing)
    case 'touchOldPods':
      return touchOldPods(plan.next, view, doing)
    case 'labelPods':
      await Promise.all(plan.pods.map((pod) => cluster.labelPod(pod, signal)))
      for (const { uid } of plan.pods) doing.memory.labelled.add(uid)
      return again
    case 'writeStatus':
      await cluster.patchStatus(view.release, releaseStatusPatch(view.release, plan.status), signal)
      doing.memory.statusWrittenMs = doing.clock.monotonicMs()
      return again
    case 'wait':
      return plan.recheckAfterMs === null ? awaitChange : recheckAfter(plan.recheckAfterMs)
    default:
      return plan satisfies never
  }
}

/** The answer to our own write is known at once, so the next pass need not wait for its echo. */
const again: Outcome = recheckAfter(0)

/** F2: the watermark of the first record is the highest version of a live pod list. */
async function createFirstRecord(allowance: Allowance, view: ReleaseView, { cluster, signal }: Doing): Promise<Outcome> {
  const pods = await cluster.listPods(daemonSetOf(view), signal)
  const watermark = pods.map(({ resourceVersion }) => resourceVersion).reduce(newerResourceVersion, '0')
  return outcomeOfRecord(await cluster.writeRecord(view.release, createRecord(allowance, watermark), signal))
}

/** F9: what allows more is decided once more on live reads, the record first, and written only if it is still the same. */
async function confirmAndWrite(plan: BatchReleasePlan & { kind: 'writeRecord' }, doing: Doing): Promise<Outcome> {
  const live = await doing.cluster.readLive(doing.key, doing.signal)
  if (live === null) return awaitChange
  const confirmed = planBatchRelease(doing.toView(live))
  if (confirmed.kind !== 'writeRecord' || !isSameRecord(confirmed.record, plan.record)) {
    doing.log.debug({ batchRelease: keyText(doing.key), plan: confirmed.kind }, 'decided otherwise on live reads')
    return recheckAfter(UNCLEAR_RECHECK_MS)
  }
  return outcomeOfRecord(await doing.cluster.writeRecord(live.release, confirmed.record, doing.signal))
}

/** F8, F10: touch the pods, then write what the answers allow. */
async function touchPermits(permits: readonly Permit[], lowerTo: Allowance | null, view: ReleaseView, doing: Doing): Promise<Outcome> {
  const record = recordOf(view.release)
  const touched = await touchAll(permits, view, doing)
  const unclear = touched.find(({ answer }) => answer.kind === 'unclear')
  if (unclear !== undefined)
    doing.log.warn(
      { batchRelease: keyText(doing.key), node: unclear.permit.node, why: reasonOf(unclear) },
      'touched a pod without a clear answer',
    )
  const erased = recordTouches(record, touched)
  const done = unclear === undefined && lowerTo !== null ? widenRecord(erased, lowerTo) : erased
  const moved = done.state !== record.state || done.permits.length !== record.permits.length || (lowerTo !== null && unclear === undefined)
  if (!moved) return recheckAfter(UNCLEAR_RECHECK_MS)
  const outcome = outcomeOfRecord(await doing.cluster.writeRecord(view.release, done, doing.signal))
  return unclear === undefined ? outcome : recheckAfter(UNCLEAR_RECHECK_MS)
}

/** The names of the pods come from a live list: a pod that our watch has not shown yet must not count as gone. */
async function touchAll(permits: readonly Permit[], view: ReleaseView, { cluster, signal }: Doing): Promise<readonly TouchedPermit[]> {
  if (permits.length === 0 || view.daemonSet === undefined) return permits.map((permit) => ({ permit, answer: { kind: 'executed' } }))
  const pods = new Map((await cluster.listPods(view.daemonSet, signal)).map((pod) => [pod.uid, pod]))
  return Promise.all(
    permits.map(async (permit): Promise<TouchedPermit> => {
      const pod = pods.get(permit.podUid)
      return { permit, answer: pod === undefined ? { kind: 'executed' } : await cluster.touchPod(pod, signal) }
    }),
  )
}

/** F11: no delete of a record that is lost can be accepted once every old pod was touched. */
async function touchOldPods(next: BatchReleasePlan, view: ReleaseView, doing: Doing): Promise<Outcome> {
  const pods = await doing.cluster.listPods(daemonSetOf(view), doing.signal)
  const answers = await Promise.all(pods.filter((pod) => !pod.terminating).map((pod) => doing.cluster.touchPod(pod, doing.signal)))
  if (answers.some(({ kind }) => kind === 'unclear')) return recheckAfter(UNCLEAR_RECHECK_MS)
  return apply(next, view, doing)
}

function outcomeOfRecord(written: boolean): Outcome {
  return written ? again : recheckAfter(OVERTAKEN_RECHECK_MS)
}

/** Two decisions are the same when they lead from the same record to the same record. */
function isSameRecord(a: FlightRecord, b: FlightRecord): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function daemonSetOf({ daemonSet }: ReleaseView): DaemonSet {
  if (daemonSet === undefined) throw new Error('a pass was planned without its DaemonSet')
  return daemonSet
}

function recordOf({ status }: BatchRelease): FlightRecord {
  if (status?.flight === undefined) throw new Error('a pass was planned without a record')
  return status.flight
}

function reasonOf({ answer }: TouchedPermit): string {
  return answer.kind === 'unclear' ? answer.why : answer.kind
}

function whyOf(plan: BatchReleasePlan): { readonly reason?: string } {
  return 'why' in plan ? { reason: plan.why } : {}
}
