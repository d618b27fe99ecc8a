import type { Clock } from '@tranche/clock'
import { changePermits, recordTouches, type TouchedPermit } from '@tranche/flight'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
import { failedTurns, type PassPlan, type PassView, planPass, type PermittedPod } from '@tranche/planner'
import { judgeRelease } from '@tranche/verdict'
import { awaitChange, type Outcome, type Reconcile, recheckAfter } from '@tranche/reconcile'
import type { ExecutorPort, ExecutorReading } from './executor-port.ts'
import { createSentDeletes, REFUSED_RECHECK_MS, type SentDeletes } from './sent-deletes.ts'

/** What an executor is made of. */
export interface ExecutorParts {
  readonly cluster: ExecutorPort
  readonly clock: Clock
  readonly log: Logger
}

/** After a write that somebody else overtook, the watch that shows theirs wakes us; this is for the case that it is slow. */
const OVERTAKEN_RECHECK_MS = 1_000

/**
 * Builds the pass of the partition executor over one DaemonSet: read everything, decide, write one permit change or
 * delete pods by permit.
 *
 * Any number of executors may run it for the same DaemonSet at the same time (G8), and any of them may die anywhere (G7): nothing
 * here is kept that matters.
 */
export function createExecutorPass(parts: ExecutorParts): Reconcile {
  const sentByKey = new Map<string, SentDeletes>()
  // Steps of the wall clock would move deadlines.
  const epochMs = parts.clock.nowMs() - parts.clock.monotonicMs()
  return async function passOver(key, signal) {
    const reading = parts.cluster.read(key)
    if (reading === null) {
      sentByKey.delete(keyText(key))
      return awaitChange
    }
    const sent = sentOf(sentByKey, key)
    const view = toView(reading, sent, { monotonicMs: parts.clock.monotonicMs(), epochMs })
    // Nothing is awaited between this decision and the sending of its first request: F1 holds when chosen and when used.
    const plan = planPass(view)
    if (plan.kind !== 'wait') parts.log.info({ daemonSet: keyText(key), plan: plan.kind, pods: podsOf(plan) }, 'planned pass')
    return apply(plan, reading, sent, { ...parts, signal })
  }
}

interface Doing extends ExecutorParts {
  readonly signal: AbortSignal
}

async function apply(plan: PassPlan, reading: ExecutorReading, sent: SentDeletes, doing: Doing): Promise<Outcome> {
  switch (plan.kind) {
    case 'execute':
      return execute(plan.pods, sent, doing)
    case 'changePermits': {
      const record = recordOf(reading)
      return outcomeOfWrite(await doing.cluster.writeRecord(reading.release, changePermits(record, plan.change), doing.signal))
    }
    case 'withdraw':
      return withdraw(plan.pods, reading, doing)
    case 'wait':
      return plan.wakeAtMs === null ? awaitChange : recheckAfter(Math.max(0, plan.wakeAtMs - doing.clock.monotonicMs()))
    default:
      return plan satisfies never
  }
}

/** Sends every delete side by side: each stands alone. What one of them throws is thrown when all have ended. */
async function execute(pods: readonly PermittedPod[], sent: SentDeletes, { cluster, clock, signal }: Doing): Promise<Outcome> {
  const ends = await Promise.allSettled(
    pods.map(async (pod) => {
      sent.add(pod.permit)
      try {
        const isAccepted = await cluster.deletePod(pod, signal)
        if (!isAccepted) sent.refused(pod.permit, clock.monotonicMs())
        return isAccepted
      } catch (error) {
        sent.unknown(pod.permit)
        throw error
      }
    }),
  )
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return ends.every((end) => end.status === 'fulfilled' && end.value) ? awaitChange : recheckAfter(REFUSED_RECHECK_MS)
}

/** F7: a permit leaves the record only after a touch of its pod was answered without a deletionTimestamp. */
async function withdraw(pods: readonly PermittedPod[], reading: ExecutorReading, { cluster, signal }: Doing): Promise<Outcome> {
  const touched = await Promise.all(
    pods.map(async (pod): Promise<TouchedPermit> => ({ permit: pod.permit, answer: await cluster.touchPod(pod, signal) })),
  )
  if (!touched.some(({ answer }) => answer.kind === 'standing')) return recheckAfter(OVERTAKEN_RECHECK_MS)
  return outcomeOfWrite(await cluster.writeRecord(reading.release, recordTouches(recordOf(reading), touched), signal))
}

/** The answer to our own write is known at once, so the next pass need not wait for its echo. */
function outcomeOfWrite(written: boolean): Outcome {
  return recheckAfter(written ? 0 : OVERTAKEN_RECHECK_MS)
}

function toView(reading: ExecutorReading, sent: SentDeletes, times: PassTimes): PassView {
  const { monotonicMs } = times
  const { announcement, release, fleet, podsSeen } = reading
  return {
    announcement,
    releaseUid: release.metadata.uid,
    record: release.status?.flight,
    nodes: release.spec.tranche?.nodes,
    fleet,
    podsSeen,
    sent: sent.pending(fleet, monotonicMs),
    isBad: isBad(reading, times),
    monotonicMs,
  }
}

interface PassTimes {
  readonly monotonicMs: number
  /** Epoch milliseconds less the monotonic clock, as this process began. */
  readonly epochMs: number
}

/** The verdict of the controller, worked out here as well: no deletion waits for its round trip. */
function isBad({ announcement, release, fleet }: ExecutorReading, { monotonicMs, epochMs }: PassTimes): boolean {
  const isOwned = release.metadata.ownerReferences?.some(({ kind }) => kind === 'Rollout') === true
  if (isOwned && !announcement.inProgress) return false
  const { watchedNodes = [], stoppedTime } = release.status ?? {}
  const isOfRelease = stoppedTime?.release === (release.spec.tranche?.release ?? '')
  const seen = { release, fleet, minReadyMs: announcement.minReadySeconds * 1000, monotonicMs }
  const judgement = judgeRelease({
    ...seen,
    nowMs: monotonicMs + epochMs,
    notReadyInTurn: failedTurns(seen),
    watched: isOfRelease ? watchedNodes : [],
    stopped: isOfRelease ? stoppedTime : undefined,
  })
  return judgement !== null && judgement.stops !== null
}

function recordOf(reading: ExecutorReading): NonNullable<NonNullable<ExecutorReading['release']['status']>['flight']> {
  const record = reading.release.status?.flight
  if (record === undefined) throw new Error('a pass was planned without a record')
  return record
}

function sentOf(sentByKey: Map<string, SentDeletes>, key: ObjectKey): SentDeletes {
  const text = keyText(key)
  const sent = sentByKey.get(text) ?? createSentDeletes()
  sentByKey.set(text, sent)
  return sent
}

function podsOf(plan: PassPlan): number {
  if (plan.kind === 'changePermits') return plan.change.append.length + plan.change.remove.length
  return plan.kind === 'wait' ? 0 : plan.pods.length
}
