import type { Permit } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import {
  begunAt,
  changePermits,
  hasLeft,
  isConfirmedBy,
  recordTouches,
  type TouchedPermit,
  failedDueNodes,
  type PassPlan,
  type PassView,
  planPass,
  type PermittedPod,
  type Questions,
} from '@tranche/fence'
import { keyText, type ObjectKey, rolloutOf } from '@tranche/kube-types'
import type { LogFields, Logger } from '@tranche/telemetry'
import { CLOCK_SET_MS, isAfterEnd, judgeRelease, recordedFacts } from '@tranche/verdict'
import { awaitChange, type ReconcileResult, type Reconcile, recheckAfter } from '@tranche/reconcile'
import { type Confirmations, createConfirmations } from './confirmations.ts'
import type { ExecutorPort, ExecutorReading } from './executor-port.ts'
import { checkNodes, renewPreparations, undoPreparations } from './check-nodes.ts'
import { createNodeReadings, type NodeReadings } from './node-readings.ts'
import { createSentDeletes, REFUSED_RECHECK_MS, type SentDeletes } from './sent-deletes.ts'

/** Dependencies of {@link createExecutorPass}. */
export interface ExecutorParts {
  readonly cluster: ExecutorPort
  readonly clock: Clock
}

/** Recheck delay in milliseconds if the watch is slow to show the write that came first. */
const OVERTAKEN_RECHECK_MS = 1_000
/**
 * Maximum number of deletes per pass, equal to the client's connections. More would wait in its queue while their deadlines run. On a
 * busy machine some would never be sent in time, and F1 would not be checked again when they are sent.
 */
const DELETES_AT_ONCE = 32
/**
 * Maximum number of live reads per pass, for the same reason. Further pods are read in further passes. More nodes are read by one list: users
 * who may write the status of a BatchRelease can forge permits for thousands of nodes that do not exist.
 */
const READS_AT_ONCE = 32

/**
 * Creates the pass of the partition executor over one DaemonSet: it reads everything, decides, and then writes one permit change or deletes
 * pods by permit. If the decision depends on pods that only the clock made available, or on nodes that the watch does not show, it reads
 * those first and decides again.
 *
 * Any number of executors may run it for the same DaemonSet at the same time (G8), and any of them may die at any point (G7). No
 * guarantee depends on its memory.
 */
export function createExecutorPass(parts: ExecutorParts): Reconcile {
  const memories = new Map<string, Memory>()
  // Deadlines run by the monotonic clock from the first pass on, when the clock shows the API server's time. It is read again when the API
  // server's clock was set, because new timestamps then use the new time.
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
    // Nothing is awaited between the last decision and sending its first request: F1 holds when a pod is chosen and when the permit is
    // used.
    const first = decide(key, log)
    if (first === null) return awaitChange
    if (first.plan.kind === 'confirm') await confirm(first.plan, first, doing)
    else if (first.plan.kind === 'checkNodes') await checkNodes(key, first.plan, { ...doing, readings: first.memory.readings })
    else if (first.plan.kind === 'undoPreparations')
      await undoPreparations(key, first.plan.nodes, { ...doing, readings: first.memory.readings })
    else if (first.plan.kind === 'renewPreparations')
      await renewPreparations(key, first.plan.nodes, { ...doing, readings: first.memory.readings })
    else return apply(first, doing)
    const second = decide(key, log)
    return second === null ? awaitChange : apply(second, doing)
  }
}

/** State of a DaemonSet that this process keeps between two passes; no guarantee depends on it. */
interface Memory {
  readonly sent: SentDeletes
  readonly confirmations: Confirmations
  readonly readings: NodeReadings
}

interface Decision {
  readonly plan: PassPlan
  readonly reading: ExecutorReading
  readonly memory: Memory
}

interface Doing extends ExecutorParts {
  /** Logger of this pass. */
  readonly log: Logger
  readonly signal: AbortSignal
}

async function apply({ plan, reading, memory }: Decision, doing: Doing): Promise<ReconcileResult> {
  switch (plan.kind) {
    case 'execute':
      return execute(plan.pods, reading, memory.sent, doing)
    // Other pods have become available, or have left, meanwhile; or there are more nodes to check.
    case 'confirm':
    case 'checkNodes':
    case 'undoPreparations':
    case 'renewPreparations':
      return recheckAfter(0)
    case 'changePermits': {
      const record = recordOf(reading)
      const isWritten = await doing.cluster.writeRecord(reading.release, changePermits(record, plan.change), doing.signal)
      if (isWritten && plan.change.blocked !== undefined) memory.readings.recorded()
      return outcomeOfWrite(isWritten)
    }
    case 'withdraw':
      return withdraw(plan.pods, reading, doing)
    case 'wait':
      return plan.wakeAtMs === null ? awaitChange : recheckAfter(Math.max(0, plan.wakeAtMs - doing.clock.monotonicMs()))
    default:
      return plan satisfies never
  }
}

/** Sends the first deletes in parallel, each on its own. Rethrows an error after all have ended. The next pass decides the others again. */
async function execute(
  pods: readonly PermittedPod[],
  reading: ExecutorReading,
  sent: SentDeletes,
  { cluster, clock, signal, log }: Doing,
): Promise<ReconcileResult> {
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
 * F6: reads pods that only the clock made available, and nodes that the cache does not have, in parallel. If a read fails, or contradicts
 * the watch, its permits stay unsettled; other work continues meanwhile.
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

  async function confirmByList(): Promise<void> {
    const { nodes } = questions
    try {
      const found = await cluster.readNodes(new Set(nodes.map(({ node }) => node)), signal)
      for (const { node, permits } of nodes) {
        if (hasLeft(found.get(node) ?? null, reading.placement)) confirmations.confirmed(permits)
        else confirmations.open(permits, null, clock.monotonicMs())
      }
    } catch (error) {
      if (signal.aborted) throw error
      for (const { permits } of nodes) confirmations.open(permits, null, clock.monotonicMs())
      log.warn({ objects: nodes.length, err: error }, 'could not read nodes')
    }
  }

  const single = questions.nodes.length > READS_AT_ONCE ? [] : questions.nodes
  await Promise.all([
    ...questions.pods.slice(0, READS_AT_ONCE).map(({ pod, permits, overdueMs }) => {
      const { namespace, name, resourceVersion } = pod
      const read = async (): Promise<boolean> => isConfirmedBy(pod, await cluster.readPod({ namespace, name }, signal), overdueMs)
      return ask(permits, { what: { pod: keyText({ namespace, name }) }, podVersion: resourceVersion, read })
    }),
    ...single.map(({ node, permits }) => {
      const read = async (): Promise<boolean> =>
        hasLeft((await cluster.readNodes(new Set([node]), signal)).get(node) ?? null, reading.placement)
      return ask(permits, { what: { node }, podVersion: null, read })
    }),
    ...(questions.nodes.length > READS_AT_ONCE ? [confirmByList()] : []),
  ])
}

interface Question {
  /** Log fields. */
  readonly what: Readonly<Record<string, string>>
  readonly podVersion: string | null
  /** Whether the API server confirms it. */
  read(): Promise<boolean>
}

/** F7: a permit leaves the record only after the response to a touch of its pod showed no deletionTimestamp. */
async function withdraw(pods: readonly PermittedPod[], reading: ExecutorReading, { cluster, signal }: Doing): Promise<ReconcileResult> {
  const touched = await Promise.all(
    pods.map(async (pod): Promise<TouchedPermit> => ({ permit: pod.permit, answer: await cluster.touchPod(pod, signal) })),
  )
  if (!touched.some(({ answer }) => answer.kind === 'standing')) return recheckAfter(OVERTAKEN_RECHECK_MS)
  return outcomeOfWrite(await cluster.writeRecord(reading.release, recordTouches(recordOf(reading), touched), signal))
}

/** The response to this process's own write is known at once, so the next pass need not wait for its echo. */
function outcomeOfWrite(written: boolean): ReconcileResult {
  return recheckAfter(written ? 0 : OVERTAKEN_RECHECK_MS)
}

function toView(reading: ExecutorReading, { sent, confirmations, readings }: Memory, times: PassTimes): PassView {
  const { monotonicMs } = times
  const { published, release, fleet, podsSeen, preparation, prepared } = reading
  return {
    published,
    releaseUid: release.metadata.uid,
    record: release.status?.flight,
    nodes: release.spec.tranche?.nodes,
    formerRevisions: release.spec.tranche?.formerRevisions,
    begunAt: begunAt(release),
    fleet,
    podsSeen,
    sent: sent.pending(fleet, monotonicMs),
    confirmations: confirmations.of(release.status?.flight),
    checks: readings.of(askedOf(release), prepared, monotonicMs),
    preparation,
    ...(prepared !== undefined && {
      prepared,
      undoneLately: readings.undone.lately(monotonicMs),
      renewedLately: readings.renewed.lately(monotonicMs),
    }),
    isBad: isBad(reading, times),
    monotonicMs,
  }
}

/** What the nodes are checked for. A changed rule is asked about at once: a node must not wait for one that no longer applies. */
function askedOf({ spec, status }: ExecutorReading['release']): string | undefined {
  const { revision } = status?.flight ?? {}
  const { nodes, prePull, drain, downtime } = spec.tranche ?? {}
  return revision && JSON.stringify([revision, nodes?.room, prePull, drain, downtime])
}

interface PassTimes {
  readonly monotonicMs: number
  /** Epoch milliseconds minus the monotonic clock, as last read. */
  readonly epochMs: number
}

/** Evaluates the controller's verdict here as well, so that no deletion waits for its round trip. */
function isBad({ published, release, fleet }: ExecutorReading, { monotonicMs, epochMs }: PassTimes): boolean {
  const isOwned = rolloutOf(release) !== undefined
  if (isOwned && !published.inProgress && !isAfterEnd(release)) return false
  const seen = { release, fleet, minReadyMs: published.minReadySeconds * 1000, monotonicMs }
  const judgement = judgeRelease({
    ...seen,
    nowMs: monotonicMs + epochMs,
    ...recordedFacts(release),
    notReadyDue: failedDueNodes(seen),
  })
  return judgement !== null && (judgement.stops !== null || judgement.isInDoubt)
}

function recordOf(reading: ExecutorReading): NonNullable<NonNullable<ExecutorReading['release']['status']>['flight']> {
  const record = reading.release.status?.flight
  if (record === undefined) throw new Error('a pass was planned without a record')
  return record
}

function memoryOf(memories: Map<string, Memory>, key: ObjectKey): Memory {
  const text = keyText(key)
  const memory = memories.get(text) ?? { sent: createSentDeletes(), confirmations: createConfirmations(), readings: createNodeReadings() }
  memories.set(text, memory)
  return memory
}

/** Log fields that identify a release. */
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
  if (plan.kind === 'checkNodes' || plan.kind === 'undoPreparations' || plan.kind === 'renewPreparations') return plan.nodes.length
  if (plan.kind === 'confirm') return plan.pods.length + plan.nodes.length
  return plan.kind === 'wait' ? 0 : plan.pods.length
}
