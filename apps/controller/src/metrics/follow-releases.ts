import type { AnalysisRun, BatchRelease, Rollout } from '@tranche/api-schema'
import { keyText, parseTime } from '@tranche/kube-types'
import type { Metrics } from '@tranche/metrics'
import { isFinalising } from '@tranche/planner'
import type { ExportParts } from './export-release-metrics.ts'

/** Counts and times steps, batches, verdicts and analyses from watch events. Only the leader counts, so that nothing is counted twice. */
export function followReleases({ metrics, cluster, clock, isLeading }: Omit<ExportParts, 'schemas' | 'log'>): void {
  const begun = new Map<string, { readonly batch: string; readonly sinceMs: number }>()
  const states = new Map<string, StepState>()

  function followStep(name: string, previous: Rollout, current: Rollout): void {
    const [was, is] = [states.get(name) ?? stateOf(previous), stateOf(current)]
    if (is === null) return void states.delete(name)
    if (was?.stamp === is.stamp) return void states.set(name, was)
    states.set(name, is)
    if (was === null || was.revision !== is.revision || was.word === 'Completed') return
    const [fromMs, toMs] = [parseTime(was.stamp), parseTime(is.stamp)]
    if (fromMs !== null && toMs !== null) metrics.observe('tranche_step_seconds', { state: was.word }, (toMs - fromMs) / 1000)
  }

  function followBatch(name: string, previous: BatchRelease, current: BatchRelease): void {
    const [was, is] = [batchOf(previous), batchOf(current)]
    if (is === null) return void begun.delete(name)
    if (is.state === 'Upgrading' && was?.id !== is.id) begun.set(name, { batch: is.id, sinceMs: clock.monotonicMs() })
    const known = begun.get(name)
    if (is.state !== 'Ready' || known?.batch !== is.id) return
    begun.delete(name)
    metrics.observe('tranche_batch_seconds', {}, (clock.monotonicMs() - known.sinceMs) / 1000)
  }

  cluster.rollouts.subscribe({
    onChange(key, previous, current) {
      if (current === undefined || !isLeading()) states.delete(keyText(key))
      if (previous === undefined || current === undefined || !isLeading()) return
      followStep(keyText(key), previous, current)
      followVerdict(previous, current, metrics)
    },
  })
  cluster.batchReleases.subscribe({
    onChange(key, previous, current) {
      if (current === undefined || !isLeading()) begun.delete(keyText(key))
      if (previous === undefined || current === undefined || !isLeading()) return
      followBatch(keyText(key), previous, current)
      followAnalyses(previous, current, metrics)
    },
  })
}

/** Null before the first batch. */
function batchOf({ status }: BatchRelease): { readonly id: string; readonly state: string } | null {
  const { batchState, currentBatch } = status?.canaryStatus ?? {}
  return batchState === undefined ? null : { id: `${status?.observedRelease ?? ''} ${currentBatch}`, state: batchState }
}

/** State of a step. `stamp` identifies it: an approval changes the state word but not the stamp. */
interface StepState {
  readonly word: string
  readonly stamp: string
  readonly revision: string
}

function stateOf({ status }: Rollout): StepState | null {
  const { canaryStatus } = status ?? {}
  if (canaryStatus?.lastUpdateTime === undefined) return null
  const { currentStepState, lastUpdateTime, canaryRevision } = canaryStatus
  // A rollback is not a step, although it upgrades nodes after the last one.
  return { word: isFinalising(canaryStatus) ? 'Completed' : currentStepState, stamp: lastUpdateTime, revision: canaryRevision }
}

function followVerdict(previous: Rollout, current: Rollout, metrics: Metrics): void {
  const [was, is] = [previous.status?.failure, current.status?.failure]
  if (is?.action === undefined || (is.at === was?.at && is.release === was?.release)) return
  metrics.count('tranche_verdicts_total', { action: is.action })
}

function followAnalyses(previous: BatchRelease, current: BatchRelease, metrics: Metrics): void {
  const running = new Set(previous.status?.analysis?.filter(({ phase }) => phase === 'Running').map(runId))
  for (const run of current.status?.analysis ?? [])
    if (run.phase !== 'Running' && running.has(runId(run))) metrics.count('tranche_analyses_total', { phase: run.phase })
}

function runId({ name, step, startedAt }: AnalysisRun): string {
  return JSON.stringify([name, step, startedAt])
}
