import type { Outcome, RolloutSummary } from '@tranche/api-schema'
import { keptPerBlock } from '@tranche/fleet'
import { updatedPod } from '@tranche/fence'
import { isFinalising, isBeingPrepared, stepsOf } from '@tranche/planner'
import { parseTime, timeText } from '@tranche/kube-types'
import { type Outline, progressOf } from './outline.ts'
import { presentWait } from './present-message.ts'
import { stepSizes } from './step-sizes.ts'

/** Fewest nodes of a batch from which its speed is estimated. */
const FEWEST_NODES = 2

/**
 * What the release waits for that ends by itself, and when; undefined if a person has to decide, or if the end is unknown. Reads no
 * message. The end of a batch is an estimate from its speed so far.
 */
export function remainingOf(outline: Outline, outcome: Outcome): RolloutSummary['remaining'] {
  if (outcome !== 'Running') return undefined
  const ends = [
    ['pause', pauseEndMs(outline)],
    ['soak', soakEndMs(outline)],
    ['settling', settlingEndMs(outline)],
    ['batch', batchEndMs(outline)],
  ] as const
  const [of, endMs] = ends.find(([, ms]) => Number.isFinite(ms)) ?? []
  return of === undefined ? undefined : { of, until: timeText(endMs!) }
}

/** NaN unless a timed pause runs. */
function pauseEndMs({ facts }: Outline): number {
  const { currentStepState, currentStepIndex = 0, lastUpdateTime } = facts.rollout.status?.canaryStatus ?? {}
  const seconds = stepsOf(facts.rollout)[currentStepIndex - 1]?.pause?.duration
  return currentStepState === 'StepPaused' ? timeAfter(lastUpdateTime, seconds) : Number.NaN
}

/** NaN unless a batch soaks. */
function soakEndMs({ facts, release }: Outline): number {
  const { canaryStatus, waitingFor } = facts.rollout.status ?? {}
  if (canaryStatus?.currentStepState !== 'StepMetricsAnalysis' || waitingFor?.reason !== 'Soak') return Number.NaN
  return timeAfter(waitingFor.since, release?.spec.tranche?.stepSoakSeconds)
}

/** NaN unless the last batch settles. */
function settlingEndMs({ facts }: Outline): number {
  const { phase, settlingUntil } = facts.rollout.status ?? {}
  return phase === 'Progressing' ? timeAfter(settlingUntil, 0) : Number.NaN
}

/** NaN while too few nodes of the batch are available, once all are, and while it makes no progress: its speed then says nothing. */
function batchEndMs(outline: Outline): number {
  const { facts, canary } = outline
  const status = facts.rollout.status?.canaryStatus
  if (status?.currentStepState !== 'StepUpgrade' || isFinalising(status) || !isMoving(outline)) return Number.NaN
  const { currentStepIndex: index } = status
  const sizes = stepSizes(outline)
  const { updatedAvailable } = progressOf(outline)
  const through = updatedAvailable - (sizes[index - 2] ?? 0)
  const left = Math.min(sizes[index - 1] ?? 0, withinReach(outline)) - updatedAvailable
  if (left <= 0 || through < FEWEST_NODES) return Number.NaN
  const startMs = parseTime(firstCreated(outline, { canary, batch: index }))
  const spentMs = facts.nowMs - (startMs ?? facts.nowMs)
  return spentMs > 0 ? facts.nowMs + (spentMs / through) * left : Number.NaN
}

/** Number of desired nodes without the dead, skipped and excluded ones, which no speed brings back. */
function withinReach(outline: Outline): number {
  const { skipped, excluded, exemption } = progressOf(outline)
  return outline.fleet.desired - new Set([...skipped, ...excluded, ...exemption.dead]).size
}

/** Waits that end as pods start. Every other one is a hold, whose end does not depend on the speed of the batch. */
const movingWaits: readonly string[] = ['Upgrading', 'NotAvailable']

/** Whether only starting pods keep the batch from its end: no hold, no check that keeps a node back, no budget that other nodes use up. */
function isMoving(outline: Outline): boolean {
  const { facts, release } = outline
  const wait = presentWait(outline)
  const record = release?.status?.flight
  return (
    facts.rollout.spec.strategy.paused !== true &&
    (wait === undefined || movingWaits.includes(wait.reason)) &&
    (record === undefined || record.holds.length === 0) &&
    (record?.blocked ?? []).every(isBeingPrepared)
  )
}

interface BatchPods {
  readonly canary: string
  /** From 1. */
  readonly batch: number
}

/** Creation time of the first pod of a batch; undefined without one. */
function firstCreated({ fleet }: Outline, pods: BatchPods): string | undefined {
  return createdPerBlock(fleet, pods).reduce(earlier, undefined)
}

const createdPerBlock = keptPerBlock<BatchPods, string | undefined>({
  count: (block, { canary, batch }) =>
    block.reduce<string | undefined>((first, node) => {
      const pod = node.desired ? updatedPod(node, canary) : undefined
      return pod !== undefined && Number(pod.rolloutBatchId) === batch ? earlier(first, pod.createdAt) : first
    }, undefined),
  holds: (known, asked) => known.canary === asked.canary && known.batch === asked.batch,
})

function earlier(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return b < a ? b : a
}

function timeAfter(stamp: string | undefined, seconds: number | undefined): number {
  const ms = parseTime(stamp)
  return ms === null || seconds === undefined ? Number.NaN : ms + seconds * 1000
}
