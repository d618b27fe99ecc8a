import { batchReleasePhases, type Rollout, type RolloutReport, rolloutPhases } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { ownedRevisions, type WatchedCluster } from '@tranche/cluster'
import { keyOf, keyText, parseTime } from '@tranche/kube-types'
import { type GaugeName, type Metrics, type Sample, EXPORTED_RELEASES_MAX } from '@tranche/metrics'
import { type ReleaseFacts, reportRollout } from '@tranche/reports'
import { createObjectFaults, type Logger } from '@tranche/telemetry'
import type { SchemaWatch } from '../schema/schema-watch.ts'
import { followDownTime } from './follow-down-time.ts'
import { followReleases } from './follow-releases.ts'

/** Dependencies of {@link exportReleaseMetrics}. */
export interface ExportParts {
  readonly metrics: Metrics
  readonly cluster: WatchedCluster
  readonly clock: Clock
  readonly log: Logger
  readonly schemas: Pick<SchemaWatch, 'gap'>
  /** Whether this process leads. Only the leader exports releases, so that sums over all replicas are correct. */
  readonly isLeading: () => boolean
}

/** Exports gauges of releases at each scrape, and counts steps, batches, verdicts and analyses in between. */
export function exportReleaseMetrics(parts: ExportParts): void {
  const { metrics, cluster, clock, schemas, isLeading } = parts
  const read = createReader(parts)
  metrics.gauge('tranche_leader', () => [{ labels: {}, value: isLeading() ? 1 : 0 }])
  metrics.gauge('tranche_definitions_outdated', () => [{ labels: {}, value: schemas.gap() === undefined ? 0 : 1 }])
  metrics.gauge('tranche_rollouts', () =>
    isLeading()
      ? byPhase(
          rolloutPhases,
          cluster.rollouts.store.list().map(({ status }) => status?.phase),
        )
      : [],
  )
  metrics.gauge('tranche_releases', () =>
    isLeading()
      ? byPhase(
          batchReleasePhases,
          cluster.batchReleases.store.list().map(({ status }) => status?.phase),
        )
      : [],
  )
  const exportGauge = <Name extends GaugeName>(name: Name, samples: (sampled: ReleaseSample) => readonly Sample<Name>[]): void =>
    void metrics.gauge(name, () => (isLeading() ? read().flatMap(samples) : []))
  exportGauge('tranche_release_nodes', ({ labels, states }) => states.map(([state, value]) => ({ labels: { ...labels, state }, value })))
  exportGauge('tranche_release_leaked_nodes', ({ labels, report }) => [{ labels, value: report.nodes.leaked }])
  exportGauge('tranche_release_budget_allowed_nodes', ({ labels, report }) => [{ labels, value: report.maxUnavailable ?? 0 }])
  exportGauge('tranche_release_budget_used_nodes', ({ labels, report }) => [{ labels, value: report.nodes.unavailable }])
  exportGauge('tranche_release_permits', ({ labels, permits }) => [{ labels, value: permits }])
  exportGauge('tranche_release_still_seconds', ({ labels, stillSeconds }) =>
    stillSeconds === null ? [] : [{ labels, value: stillSeconds }],
  )
  exportGauge('tranche_release_need_seconds', ({ labels, report: { need } }) =>
    need === undefined || need.reason === 'Disabled'
      ? []
      : [{ labels: { ...labels, reason: need.reason }, value: secondsSince(need.since, clock.nowMs()) }],
  )
  followReleases(parts)
  followDownTime(parts)
}

/** Gauge values of one Rollout. */
interface ReleaseSample {
  readonly labels: { readonly rollout: string }
  readonly report: RolloutReport
  readonly states: readonly (readonly [string, number])[]
  readonly permits: number
  /** Seconds without progress; null while it waits on purpose. */
  readonly stillSeconds: number | null
}

/**
 * Lifetime of a reading, in milliseconds: all gauges of a scrape share it, and scrapes that follow each other faster cost nothing more.
 */
const FRESH_MS = 1_000

/** Reads the exported Rollouts for all gauges, at most once per {@link FRESH_MS}. A Rollout that cannot be reported is left out. */
function createReader({ cluster, clock, log }: ExportParts): () => readonly ReleaseSample[] {
  const faults = createObjectFaults((fields) => log.error(fields, 'left out the metrics of a Rollout that cannot be reported'))
  const moved = new Map<string, { readonly counts: string; readonly sinceMs: number }>()
  let last: { readonly atMs: number; readonly sampled: readonly ReleaseSample[] } | null = null

  function stillSecondsOf(uid: string, { outcome, step, nodes }: RolloutReport): number | null {
    if (outcome !== 'Running' || step?.state !== 'StepUpgrade') {
      moved.delete(uid)
      return null
    }
    const counts = JSON.stringify([step.index, nodes.desired, nodes.updated, nodes.updatedAvailable])
    const known = moved.get(uid)
    const sinceMs = known?.counts === counts ? known.sinceMs : clock.monotonicMs()
    moved.set(uid, { counts, sinceMs })
    return (clock.monotonicMs() - sinceMs) / 1000
  }

  function sampleOf(rollout: Rollout): ReleaseSample {
    const facts = factsOf(cluster, clock, rollout)
    const report = reportRollout(facts)
    return {
      labels: { rollout: keyText(keyOf(rollout)) },
      report,
      states: sumOfZones(report),
      permits: facts.release?.status?.flight?.permits.length ?? 0,
      stillSeconds: stillSecondsOf(rollout.metadata.uid, report),
    }
  }

  return () => {
    const atMs = clock.monotonicMs()
    if (last !== null && atMs - last.atMs < FRESH_MS) return last.sampled
    const rollouts = cluster.rollouts.store.list().filter(isExported).sort(byName).slice(0, EXPORTED_RELEASES_MAX)
    const uids = new Set(rollouts.map(({ metadata }) => metadata.uid))
    for (const uid of moved.keys()) if (!uids.has(uid)) moved.delete(uid)
    const sampled = rollouts.flatMap((rollout) => faults.attempt(keyText(keyOf(rollout)), () => sampleOf(rollout)) ?? [])
    last = { atMs, sampled }
    return sampled
  }
}

function isExported({ status }: Rollout): boolean {
  const isUnderWay = status?.phase === 'Progressing' || status?.phase === 'Terminating' || status?.phase === 'Disabling'
  return isUnderWay || status?.conditions?.some((condition) => condition.type === 'Stalled' && condition.status === 'True') === true
}

function byName({ metadata: a }: Rollout, { metadata: b }: Rollout): number {
  return `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1
}

function factsOf({ overlay, daemonSets, revisions, fleet }: WatchedCluster, clock: Clock, rollout: Rollout): ReleaseFacts {
  const key = keyOf(rollout)
  const daemonSet = daemonSets.store.get({ namespace: key.namespace, name: rollout.spec.workloadRef.name })
  return {
    rollout,
    release: overlay.batchReleases.get(key),
    daemonSet,
    revisions: daemonSet === undefined ? [] : ownedRevisions({ revisions }, daemonSet),
    fleet: daemonSet === undefined ? undefined : fleet.view(daemonSet),
    nowMs: clock.nowMs(),
    monotonicMs: clock.monotonicMs(),
  }
}

function sumOfZones({ zones }: RolloutReport): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>()
  for (const { states } of zones) for (const [state, nodes] of Object.entries(states)) sums.set(state, (sums.get(state) ?? 0) + nodes)
  return [...sums]
}

/** Exports every phase, including those with zero objects. */
function byPhase(
  phases: readonly string[],
  found: readonly (string | undefined)[],
): readonly { readonly labels: { readonly phase: string }; readonly value: number }[] {
  const words = found.map((phase) => (phase === undefined || phase === '' ? 'none' : phase))
  return ['none', ...phases].map((phase) => ({ labels: { phase }, value: words.filter((word) => word === phase).length }))
}

function secondsSince(since: string | undefined, nowMs: number): number {
  return Math.max(0, (nowMs - (parseTime(since) ?? nowMs)) / 1000)
}
