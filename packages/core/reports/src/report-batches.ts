import type { BatchReport } from '@tranche/api-schema'
import { isAvailable } from '@tranche/fleet'
import { isFinalising } from '@tranche/planner'
import { updatedPod } from '@tranche/fence'
import { conditionIn } from './outcome-of.ts'
import { isYetToStart, type Outline, outlineOf } from './outline.ts'
import type { ReleaseFacts } from './release-facts.ts'
import { stepSizes } from './step-sizes.ts'

/**
 * The batches of the running or last release, in order. Nodes that follow a last step below 100 % have no batch number of their
 * own: they belong to the last batch.
 */
export function reportBatches(facts: ReleaseFacts): readonly BatchReport[] {
  const outline = outlineOf(facts)
  const seen = seenBatches(outline)
  const current = currentBatch(outline)
  return stepSizes(outline).map((nodes, at, all) => {
    const index = at + 1
    const { updated = 0, available = 0, firstAt, lastReadyAt } = seen.get(index) ?? {}
    const state = index < current.index ? 'done' : index === current.index ? 'current' : 'ahead'
    const readyAt = state === 'current' ? current.readyAt : updated > 0 && updated === available ? lastReadyAt : undefined
    return {
      index,
      nodes: index === all.length && current.isRest ? outline.fleet.desired : nodes,
      updated,
      available,
      state,
      ...(firstAt !== undefined && { startedAt: firstAt }),
      ...(readyAt !== undefined && { readyAt }),
    }
  })
}

interface SeenBatch {
  readonly updated: number
  readonly available: number
  /** Creation time of its first pod. */
  readonly firstAt: string | undefined
  /** Time at which its last pod became Ready. */
  readonly lastReadyAt: string | undefined
}

/** Times and counts from the labels of the pods, by batch number. */
function seenBatches({ facts, fleet, canary, minReadyMs }: Outline): ReadonlyMap<number, SeenBatch> {
  const seen = new Map<number, SeenBatch>()
  for (const node of fleet.nodes) {
    const pod = node.desired ? updatedPod(node, canary) : undefined
    const batch = Number(pod?.rolloutBatchId)
    if (pod === undefined || !Number.isInteger(batch)) continue
    const { updated = 0, available = 0, firstAt, lastReadyAt } = seen.get(batch) ?? {}
    seen.set(batch, {
      updated: updated + 1,
      available: available + (isAvailable(pod, minReadyMs, facts.monotonicMs) ? 1 : 0),
      firstAt: firstAt === undefined || pod.createdAt < firstAt ? pod.createdAt : firstAt,
      lastReadyAt: later(lastReadyAt, pod.readyStamp),
    })
  }
  return seen
}

interface CurrentBatch {
  /** Number of the batch, from 1; Infinity when all are done, 0 before the first release. */
  readonly index: number
  readonly readyAt?: string | undefined
  /** Whether the nodes left after the last step are being updated. */
  readonly isRest: boolean
}

function currentBatch(outline: Outline): CurrentBatch {
  const { facts, release } = outline
  const { status } = facts.rollout
  const canary = status?.canaryStatus
  if (canary === undefined || isYetToStart(outline) || conditionIn(outline, 'Progressing') === undefined) return { index: 0, isRest: false }
  const { batchState, batchReadyTime: readyAt } = release?.status?.canaryStatus ?? {}
  const ready = batchState === 'Ready' ? { readyAt } : {}
  if (isFinalising(canary)) return { index: facts.rollout.spec.strategy.canary?.steps?.length ?? 0, isRest: true, ...ready }
  if (canary.currentStepState === 'Completed') return { index: Number.POSITIVE_INFINITY, isRest: status?.phase === 'Healthy' }
  return { index: canary.currentStepIndex, isRest: false, ...ready }
}

function later(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a < b ? b : a
}
