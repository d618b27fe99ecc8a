import type { Permit } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { changePermits, hasLeft, isConfirmedBy, recordTouches, type TouchedPermit } from '@tranche/flight'
import { keyText, type ObjectKey, rolloutOf } from '@tranche/kube-types'
import type { LogFields, Logger } from '@tranche/log'
import { failedDueNodes, type PassPlan, type PassView, planPass, type PermittedPod, type Questions } from '@tranche/planner'
import { CLOCK_SET_MS, judgedRelease, judgeRelease } from '@tranche/verdict'
import { awaitChange, type Outcome, type Reconcile, recheckAfter } from '@tranche/reconcile'
import { type Confirmations, createConfirmations } from './confirmations.ts'
import type { ExecutorPort, ExecutorReading } from './executor-port.ts'
import { createSentDeletes, REFUSED_RECHECK_MS, type SentDeletes } from './sent-deletes.ts'

/** What an executor is made of. */
export interface ExecutorParts {
  readonly cluster: ExecutorPort
  readonly clock: Clock
}

/** After a write that somebody else overtook, the watch that shows theirs wakes us; this is for the case that it is slow. */
const OVERTAKEN_RECHECK_MS = 1_000
/**
 * Deletes that a pass sends: as many as a client has connections for. More would wait in its queue, where their deadlines run, so that on a
 * busy machine none of hundreds would ever be sent in time; and F1 was asked of none of them when it is.
 */
const DELETES_AT_ONCE = 32

/**
 * Builds the pass of the partition executor over one DaemonSet: read everything, decide, write one permit change or
 * delete pods by permit. Where the decision hangs on pods that only the clock has made available, or on nodes that its watch
 * does not show, it reads those first and decides anew.
 *
 * Any number of executors may run it for the same DaemonSet at the same time (G8), and any of them may die anywhere (G7): nothing
 * here is kept that matters.
 */
export function createExecutorPass(parts: ExecutorParts): Reconcile {
  const memories = new Map<string, Memory>()
  // Deadlines run by the monotonic clock, from the first pass on: the clock shows the API server's time once that has answered. It is read
  // again where the API server's clock was set, for what that stamps from then on is of another time.
  let epochMs: number | undefined

  function decide(key: ObjectKey, log: Logger): Decision | null {
    const reading = parts.cluster.read(key)
    if (reading === null) {
      memories.delete(keyText(key))
      return null
    }
    const memory = memoryOf(memories, key)
    const nowEpochMs = parts.clock.nowMs() - parts.clock.monotonicMs()
    if (epochMs === undefined || Math.abs(nowEpochMs - epochMs) >= CLOCK_SET_MS) epochMs = nowEpochMs
    const plan = planPass(toView(reading, memory, { monotonicMs: parts.clock.monotonicMs(), epochMs }))
    if (plan.kind !== 'wait') log.debug({ daemonSet: keyText(key), plan: plan.kind, pods: podsOf(plan) }, 'planned pass')
    return { plan, reading, memory }
  }

  return async function passOver(key, signal, log) {
    const doing = { ...parts, signal, log }
    // Nothing is awaited between the last decision and the sending of its first request: F1 holds when chosen and when used.
    const first = decide(key, log)
    if (first?.plan.kind !== 'confirm') return first === null ? awaitChange : apply(first, doing)
    await confirm(first.plan, first, doing)
    const second = decide(key, log)
    return second === null ? awaitChange : apply(second, doing)
  }
}

/** What this process remembers of a DaemonSet between two passes; none of it matters to a guarantee. */
interface Memory {
  readonly sent: SentDeletes
  readonly confirmations: Confirmations
}

interface Decision {
  readonly plan: PassPlan
  readonly reading: ExecutorReading
  readonly memory: Memory
}

interface Doing extends ExecutorParts {
  /** Of this pass. */
  readonly log: Logger
  readonly signal: AbortSignal
}

async function apply({ plan, reading, memory }: Decision, doing: Doing): Promise<Outcome> {
  switch (plan.kind) {
    case 'execute':
      return execute(plan.pods, reading, memory.sent, doing)
    // Others have become available, or have left, meanwhile.
    case 'confirm':
      return recheckAfter(0)
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

/** Sends the first deletes side by side: each stands alone. What one of them throws is thrown when all have ended. The others are decided anew. */
async function execute(
  pods: readonly PermittedPod[],
  reading: ExecutorReading,
  sent: SentDeletes,
  { cluster, clock, signal, log }: Doing,
): Promise<Outcome> {
  const fields = fieldsOf(reading)
  const ends = await Promise.allSettled(
    pods.slice(0, DELETES_AT_ONCE).map(async (pod) => {
      sent.add(pod.permit)
      try {
        const isAccepted = await cluster.deletePod(pod, signal)
        if (!isAccepted) sent.refused(pod.permit, clock.monotonicMs())
        const where = { ...fields, pod: pod.podName, node: pod.permit.node }
        if (isAccepted) log.info(where, 'deleted pod')
        else log.debug(where, 'did not delete pod that has changed')
        return isAccepted
      } catch (error) {
        sent.unknown(pod.permit)
        throw error
      }
    }),
  )
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  if (pods.length > DELETES_AT_ONCE) return recheckAfter(0)
  return ends.every((end) => end.status === 'fulfilled' && end.value) ? awaitChange : recheckAfter(REFUSED_RECHECK_MS)
}

/**
 * F6: reads pods that only the clock has made available, and nodes that our view does not have, side by side. What cannot be
 * read, or of which the API server tells another story than our watch, keeps its permits unsettled; whatever else there is to
 * do goes on meanwhile.
 */
async function confirm(questions: Questions, { reading, memory: { confirmations } }: Decision, doing: Doing): Promise<void> {
  const { cluster, clock, log, signal } = doing

  async function ask(permits: readonly Permit[], { what, podVersion, read }: Question): Promise<void> {
    try {
      if (await read()) confirmations.confirmed(permits)
      else confirmations.open(permits, podVersion, clock.monotonicMs())
    } catch (error) {
      if (signal.aborted) throw error
      confirmations.open(permits, podVersion, clock.monotonicMs())
      log.warn({ ...what, err: error }, 'could not read pod or node')
    }
  }

  await Promise.all([
    ...questions.pods.map(({ pod, permits, overdueMs }) => {
      const { namespace, name, resourceVersion } = pod
      const read = async (): Promise<boolean> => isConfirmedBy(pod, await cluster.readPod({ namespace, name }, signal), overdueMs)
      return ask(permits, { what: { pod: keyText({ namespace, name }) }, podVersion: resourceVersion, read })
    }),
    ...questions.nodes.map(({ node, permits }) => {
      const read = async (): Promise<boolean> => hasLeft(await cluster.readNode(node, signal), reading.placement)
      return ask(permits, { what: { node }, podVersion: null, read })
    }),
  ])
}

interface Question {
  /** For the log. */
  readonly what: Readonly<Record<string, string>>
  readonly podVersion: string | null
  /** Whether the API server says so too. */
  read(): Promise<boolean>
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

function toView(reading: ExecutorReading, { sent, confirmations }: Memory, times: PassTimes): PassView {
  const { monotonicMs } = times
  const { published, release, fleet, podsSeen } = reading
  return {
    published,
    releaseUid: release.metadata.uid,
    record: release.status?.flight,
    nodes: release.spec.tranche?.nodes,
    fleet,
    podsSeen,
    sent: sent.pending(fleet, monotonicMs),
    confirmations: confirmations.of(release.status?.flight),
    isBad: isBad(reading, times),
    monotonicMs,
  }
}

interface PassTimes {
  readonly monotonicMs: number
  /** Epoch milliseconds less the monotonic clock, as it was read last. */
  readonly epochMs: number
}

/** The verdict of the controller, worked out here as well: no deletion waits for its round trip. */
function isBad({ published, release, fleet }: ExecutorReading, { monotonicMs, epochMs }: PassTimes): boolean {
  const isOwned = rolloutOf(release) !== undefined
  if (isOwned && !published.inProgress) return false
  const { watchedNodes = [], stoppedTime } = release.status ?? {}
  const isOfRelease = stoppedTime?.release === judgedRelease(release)
  const seen = { release, fleet, minReadyMs: published.minReadySeconds * 1000, monotonicMs }
  const judgement = judgeRelease({
    ...seen,
    nowMs: monotonicMs + epochMs,
    notReadyDue: failedDueNodes(seen),
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

function memoryOf(memories: Map<string, Memory>, key: ObjectKey): Memory {
  const text = keyText(key)
  const memory = memories.get(text) ?? { sent: createSentDeletes(), confirmations: createConfirmations() }
  memories.set(text, memory)
  return memory
}

/** By which lines of one release are found. */
function fieldsOf({ release }: ExecutorReading): LogFields {
  const { namespace = '', name } = release.metadata
  const { canaryStatus, flight } = release.status ?? {}
  return {
    daemonSet: keyText({ namespace, name: release.spec.workloadRef?.name ?? name }),
    batchRelease: keyText({ namespace, name }),
    revision: flight?.revision,
    ...(canaryStatus !== undefined && { step: canaryStatus.currentBatch + 1 }),
  }
}

function podsOf(plan: PassPlan): number {
  if (plan.kind === 'changePermits') return plan.change.append.length + plan.change.remove.length
  if (plan.kind === 'confirm') return plan.pods.length + plan.nodes.length
  return plan.kind === 'wait' ? 0 : plan.pods.length
}
