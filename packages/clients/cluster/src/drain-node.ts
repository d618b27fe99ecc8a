import { drainDefaults, type DrainRules, durationMs } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { type Consumer, type DrainedPermit, drainText, type EvictionRefusal, isYieldedToUser } from '@tranche/drain'
import type { KubeClient } from '@tranche/kube-client'
import type { Node, OwnerOfObjects } from '@tranche/kube-types'
import { cordonNode, type CordonResult, isPermitted } from './cordons.ts'
import { setCondition } from './drain-conditions.ts'
import { createDrainMemory, type DrainEnd, type DrainProgress, type DrainRest } from './drain-memory.ts'
import { createEvictionRights, evictPod } from './evict-pod.ts'
import { createConsumerReader } from './read-consumers.ts'

/** A node to drain for a permit. */
export interface NodeToDrain {
  readonly node: string
  /** DaemonSet whose pod the permit is for. */
  readonly agent: OwnerOfObjects
  readonly rules: DrainRules
  readonly drained: DrainedPermit
}

/** How far the drain of a node is. */
export type DrainReading =
  /** No consumer is on the node. */
  | { readonly kind: 'ready' }
  /** Some are, but the time is over, and the policy says to continue. `isNews`: this process did not report it for this pod before. */
  | { readonly kind: 'late'; readonly isNews: boolean; readonly message: string }
  /** Consumers are leaving, or cannot leave yet: read again after `againMs`. It began at `sinceMs` (epoch), and has taken `spentMs`. */
  | { readonly kind: 'pending'; readonly againMs: number; readonly message: string; readonly sinceMs: number; readonly spentMs: number }
  /** They did not leave in time, or another release drained the node for all of it, and the policy says to hold: the node rests. */
  | ({ readonly kind: 'blocked' } & DrainRest)

/** Drains nodes. */
export interface NodeDrainer {
  /**
   * Cordons a node and evicts its consumers. It waits for none of them: the caller calls again until the node is drained, and then makes it
   * schedulable with {@link uncordonNode}. The time limit runs while the pod of a node has a permit, from the first call on, by the clock of this process.
   *
   * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
   */
  drain(job: NodeToDrain, signal: AbortSignal): Promise<DrainReading>
  /**
   * Reports whether a node rests after a drain that this process gave up: for as long as the drain might have taken. Other rules end the rest.
   *
   * @returns why it was given up, and what is left of the rest; null if the node may be drained
   */
  whyResting(node: string, releaseUid: string, rules: DrainRules): DrainRest | null
}

/** Maximum number of evictions at once. */
const EVICTIONS_AT_ONCE = 16

/** The condition `DrainInProgress` of nodes that are cordoned and drained. */
export interface DrainConditions {
  /** Reports that a condition could not be set. The drain continues, and its next look tries again. */
  onFailure(node: string, error: unknown): void
}

/** Creates a drainer, for one process. @param conditions undefined: it sets none */
export function createNodeDrainer(client: KubeClient, clock: Clock, conditions?: DrainConditions): NodeDrainer {
  const consumers = createConsumerReader(client)
  const memory = createDrainMemory(clock)

  async function step(job: NodeToDrain, { spentMs, refusals, isYielded: wasYielded }: DrainProgress, signal: AbortSignal): Promise<Step> {
    const { cordon = drainDefaults.cordon, consumers: rules = [], timeout = drainDefaults.timeout } = job.rules
    const isTimeOver = spentMs >= durationMs(timeout)
    const cordoned = cordon ? await cordonNode(client, job.node, { drained: job.drained, isYielded: wasYielded }, signal) : null
    const isYielded = cordoned?.kind === 'done' && cordoned.node !== null ? isYieldedToUser(cordoned.node) : wasYielded
    const why = cordoned === null ? null : whyNot(cordoned)
    if (cordoned?.kind === 'done' && cordoned.node !== null) await showDrain(cordoned.node, job.drained, signal)
    if (why !== null) return { kind: 'waiting', isTimeOver, isYielded, refusals, message: why, isTaken: cordoned?.kind === 'taken' }
    const present = await consumers.read({ ...job, rules }, signal)
    if (present.length === 0) return { kind: 'drained' }
    // The release may have been stopped since the node was marked, and the API server carries out every eviction (G9).
    if (!isTimeOver && !(await isPermitted(client, job.drained, signal)))
      return { kind: 'waiting', isTimeOver, isYielded, refusals, message: OVER }
    const answers = isTimeOver ? refusals : await evictFirst(client, present, refusals, signal)
    return { kind: 'waiting', isTimeOver, isYielded, refusals: answers, message: drainText(present, answers) }
  }

  async function showDrain(node: Node, drained: DrainedPermit, signal: AbortSignal): Promise<void> {
    if (conditions === undefined) return
    try {
      await setCondition(client, node, drained, { nowMs: clock.nowMs(), signal })
    } catch (error) {
      if (signal.aborted) throw error
      conditions.onFailure(node.metadata.name, error)
    }
  }

  return {
    async drain(job, signal) {
      const progress = memory.progressOf(job)
      const end = await step(job, progress, signal)
      if (end.kind === 'drained') {
        memory.ended(job)
        return { kind: 'ready' }
      }
      if (!end.isTimeOver) {
        memory.attempted(job, { ...progress, refusals: end.refusals, isYielded: end.isYielded })
        const { againMs, sinceMs, spentMs } = progress
        return { kind: 'pending', againMs, sinceMs, spentMs, message: end.message }
      }
      const { onTimeout = drainDefaults.onTimeout, timeout = drainDefaults.timeout } = job.rules
      const message = `not drained within ${timeout}: ${end.message}`
      // Its time stays over: the deletion may be refused because the pod has changed.
      if (onTimeout === 'Continue') {
        memory.attempted(job, { ...progress, isReported: true })
        return { kind: 'late', isNews: !progress.isReported, message }
      }
      const given: DrainEnd = { reason: end.isTaken === true ? 'DrainTaken' : 'DrainBlocked', message }
      const restMs = durationMs(timeout)
      memory.gaveUp(job, { rules: job.rules, restMs, end: given })
      return { kind: 'blocked', ...given, restMs }
    },
    whyResting: memory.whyResting,
  }
}

/**
 * Evicts consumers that are not leaving yet: first those not tried yet, then those that were refused longest ago. So no number of pods that may
 * not be evicted keeps others from it.
 *
 * @returns the refusals, the oldest first
 */
async function evictFirst(
  client: KubeClient,
  consumers: readonly Consumer[],
  refusals: readonly EvictionRefusal[],
  signal: AbortSignal,
): Promise<readonly EvictionRefusal[]> {
  const refusedAt = new Map(refusals.map(({ uid }, at) => [uid, at]))
  const staying = consumers
    .filter(({ isLeaving }) => !isLeaving)
    .toSorted((a, b) => (refusedAt.get(a.uid) ?? -1) - (refusedAt.get(b.uid) ?? -1))
  const tried = staying.slice(0, EVICTIONS_AT_ONCE)
  const mayEvict = createEvictionRights(client)
  const answers = await Promise.all(tried.map(async (pod) => evictPod(client, pod, { mayEvict, signal })))
  const later = new Set(staying.slice(EVICTIONS_AT_ONCE).map(({ uid }) => uid))
  return [...refusals.filter(({ uid }) => later.has(uid)), ...answers.filter((answer) => answer !== null)]
}

const OVER = 'its permit has ended'

/** @returns why the node is not ready for evictions; null if it is */
function whyNot(result: CordonResult): string | null {
  switch (result.kind) {
    case 'done':
      return null
    case 'taken':
      return `BatchRelease ${result.by.namespace}/${result.by.name} drains it`
    case 'changed':
      return 'it changed while it was cordoned'
    case 'over':
      return OVER
    default:
      return result satisfies never
  }
}

type Step =
  | { readonly kind: 'drained' }
  | {
      readonly kind: 'waiting'
      readonly isTimeOver: boolean
      /** Whether a user made the node schedulable in mid-drain. */
      readonly isYielded: boolean
      readonly refusals: readonly EvictionRefusal[]
      readonly message: string
      /** Whether another release drains the node. */
      readonly isTaken?: boolean
    }
