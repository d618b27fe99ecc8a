import type { BatchReport } from '@tranche/api-schema'
import { isAvailable } from '@tranche/fleet'
import { isFinalising, updatedPod } from '@tranche/planner'
import { conditionIn } from './outcome-of.ts'
import { type Outline, outlineOf } from './outline.ts'
import type { ReleaseFacts } from './release-facts.ts'
import { stepSizes } from './step-sizes.ts'

/**
 * The batches of the release under way, or of the last one, in order. What follows a last step of fewer than all nodes has no number of
 * its own: it belongs to the last batch.
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
  /** When the first of its pods was created. */
  readonly firstAt: string | undefined
  /** When the last of its pods became Ready. */
  readonly lastReadyAt: string | undefined
}

/** What the pods tell by their labels; by number of the batch. */
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
  /** From 1; Infinity when all are done, 0 before the first release. */
  readonly index: number
  readonly readyAt?: string | undefined
  /** What is left after the last step is being updated. */
  readonly isRest: boolean
}

function currentBatch(outline: Outline): CurrentBatch {
  const { facts, release } = outline
  const { status } = facts.rollout
  const canary = status?.canaryStatus
  if (canary === undefined || conditionIn(outline, 'Progressing') === undefined) return { index: 0, isRest: false }
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
