import type { ClusterSnapshot, Forecast, ForecastRequest, Rollout } from '@tranche/api-schema'
import type { ConfigObject } from '@tranche/config'
import type { DaemonSet } from '@tranche/kube-types'
import { hashOf, templateOf, templateText } from '@tranche/planner'
import { type BatchTimes, type Timeline, revisionOf, type Taken } from './timeline.ts'
import { type DeadNodes, deadAtStart } from './dead-at-start.ts'
import { etaRange, toSeconds } from './eta-range.ts'
import { assumptionsOf } from './assumptions.ts'
import { createOrderReasons, createUntaken } from './order-reason.ts'
import { type ReportedHolds, waitsText } from './planned/reported-holds.ts'
import type { PodTimes } from './pod-times.ts'
import { unavailableSeries } from './unavailable-series.ts'
import { sentence, stopText } from './stop-text.ts'

/** Inputs of a forecast's result. */
export interface ForecastInputs {
  readonly snapshot: ClusterSnapshot
  /** DaemonSet after the planned change. */
  readonly daemonSet: DaemonSet
  readonly request: ForecastRequest
  readonly timeline: Timeline
  readonly times: PodTimes
  readonly holds: ReportedHolds
  /** Failed fault injections, for users; one sentence each, without full stop. */
  readonly mishaps: readonly string[]
  /** ConfigMaps and Secrets of the planned manifests that are immutable. */
  readonly immutable: readonly ConfigObject[]
}

/** Summarizes the simulated release. */
export function toForecast(inputs: ForecastInputs): Forecast {
  const { timeline, daemonSet } = inputs
  const outcome = outcomeOf(inputs)
  const first = timeline.taken.filter(isOfFirst(timeline))
  const hit = nodesHit(inputs, outcome, first)
  const dead = deadAtStart(inputs)
  const unavailable = unavailableSeries(timeline.downs, downAtStart(inputs, dead))
  return {
    nodes: [...takenNodes(inputs, first), ...otherNodes(inputs, first, dead)],
    dead: { count: dead.dead.length, exempt: dead.names.size, exemptLimit: dead.most },
    etaSeconds: outcome === 'Completes' || outcome === 'RollsBack' ? etaOf(inputs, timeline.endedMs ?? 0) : null,
    peakUnavailable: Math.max(...unavailable.map(({ nodes }) => nodes)),
    maxUnavailable: timeline.limit,
    unavailable,
    outcome,
    nodesHit: hit,
    message: messageOf(inputs, outcome, hit),
    batches: batchesOf(timeline),
    assumptions: assumptionsOf({ ...inputs, minReadySeconds: daemonSet.spec.minReadySeconds ?? 0 }),
  }
}

/** The planned release; a later one in the same timeline is its rollback. */
function isOfFirst({ taken, batches }: Timeline): (one: Pick<Taken, 'release'>) => boolean {
  const first = batches[0]?.release ?? taken[0]?.release
  return ({ release }) => release === first
}

function outcomeOf(inputs: ForecastInputs): Forecast['outcome'] {
  const { endedMs, begunMs, rollout } = inputs.timeline
  if (begunMs === null && isDisabled(rollout) && !isUpToDate(inputs)) return 'Blocked'
  if (inputs.holds.stop !== null && !isUpToDate(inputs)) return 'Blocked'
  if (begunMs === null && !isStalled(rollout)) return 'Completes'
  if (endedMs !== null) return conditionOf(rollout, 'Succeeded')?.status === 'False' ? 'RollsBack' : 'Completes'
  return rollout.status?.failure?.stops === true || conditionOf(rollout, 'Stalled')?.reason === 'ReleaseFailed' ? 'Stops' : 'Blocked'
}

function isDisabled({ status, spec }: Rollout): boolean {
  return spec.disabled === true || status?.phase === 'Disabled'
}

/** Whether every pod runs the planned template. */
function isUpToDate({ daemonSet, snapshot: { revisions, pods } }: ForecastInputs): boolean {
  const planned = templateText(daemonSet.spec.template)
  const revision = revisions.find((one) => templateText(templateOf(one)) === planned)
  return revision !== undefined && pods.every((pod) => revisionOf(pod) === hashOf(revision))
}

function isStalled(rollout: Rollout): boolean {
  return conditionOf(rollout, 'Stalled')?.status === 'True'
}

function conditionOf({ status }: Rollout, type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}

function nodesHit({ timeline }: ForecastInputs, outcome: Forecast['outcome'], first: readonly Taken[]): number {
  if (outcome === 'Completes') return new Set(first.map(({ node }) => node)).size
  return timeline.canary === undefined ? 0 : timeline.nodesWith(timeline.canary).size
}

function takenNodes(inputs: ForecastInputs, first: readonly Taken[]): Forecast['nodes'] {
  const orderReasonText = createOrderReasons(inputs)
  const seen = new Set<string>()
  return first.flatMap((taken) => {
    if (seen.has(taken.node)) return []
    seen.add(taken.node)
    const { node: name, batch, atMs } = taken
    return [{ name, batch, order: seen.size, reason: orderReasonText(taken), atSeconds: toSeconds(atMs) }]
  })
}

function otherNodes(inputs: ForecastInputs, first: readonly Taken[], { dead }: DeadNodes): Forecast['nodes'] {
  const seen = new Set(first.map(({ node }) => node))
  const reasonOf = createUntaken(inputs, new Set(dead))
  const others = inputs.snapshot.nodes.filter(({ metadata }) => !seen.has(metadata.name))
  return others
    .flatMap((node) => {
      const reason = reasonOf(node)
      return reason === undefined ? [] : [{ name: node.metadata.name, batch: 0, order: 0, ...reason }]
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function etaOf({ timeline, daemonSet, times }: ForecastInputs, wholeMs: number): NonNullable<Forecast['etaSeconds']> {
  const byBatch = Map.groupBy(timeline.taken, ({ release, batch }) => `${release} ${batch}`)
  return etaRange({
    batches: [...byBatch.values()].map((taken) => taken.map(({ node }) => node)),
    limit: timeline.limit,
    times,
    minReadyMs: (daemonSet.spec.minReadySeconds ?? 0) * 1000,
    wholeMs,
  })
}

/** Nodes that are down at the start and use up the budget. */
function downAtStart(inputs: ForecastInputs, dead: DeadNodes): number {
  const { timeline, snapshot } = inputs
  const desired = snapshot.daemonSet?.status?.desiredNumberScheduled ?? snapshot.pods.length
  return Math.max(0, desired - timeline.upAtStart - dead.names.size)
}

function batchesOf(timeline: Timeline): Forecast['batches'] {
  const isFirst = isOfFirst(timeline)
  return timeline.batches.filter(isFirst).map((batch) => {
    const nodes = new Set(timeline.taken.filter((taken) => isFirst(taken) && taken.batch === batch.index).map(({ node }) => node)).size
    const pause = pauseText(timeline, batch)
    return {
      index: batch.index,
      nodes,
      startSeconds: toSeconds(batch.startMs),
      endSeconds: batch.readyMs === null ? null : toSeconds(batch.readyMs),
      ...(pause !== undefined && { pause }),
    }
  })
}

/** A batch that became ready without pausing has no pause, such as a last step of all nodes, or any step of a promoted release. */
function pauseText(timeline: Timeline, { index, readyMs }: BatchTimes): string | undefined {
  const step = timeline.rollout.spec.strategy.canary?.steps?.[index - 1]
  if (step?.pause === undefined || (readyMs !== null && !timeline.hasPausedAt(index))) return undefined
  return step.pause.duration === undefined ? 'person' : `${step.pause.duration}s`
}

function messageOf(inputs: ForecastInputs, outcome: Forecast['outcome'], hit: number): string {
  const { timeline, snapshot } = inputs
  const { rollout, begunMs, batches } = timeline
  const said = inputs.holds.stop === null ? stopText(rollout) : sentence(inputs.holds.stop)
  if (outcome === 'Completes' && begunMs === null) return unreleasedText(inputs)
  if (outcome === 'Blocked' && begunMs === null && isDisabled(rollout)) return disabledText(snapshot)
  const nodes = `${hit} ${hit === 1 ? 'node' : 'nodes'}`
  const count = new Set(batches.filter(isOfFirst(timeline)).map(({ index }) => index)).size
  if (isWayBack(inputs)) return wayBackText(inputs, outcome, said)
  switch (outcome) {
    case 'Completes':
      return `It completes ${onceFree(inputs)}if the new version runs well: ${nodes} in ${count} ${count === 1 ? 'batch' : 'batches'}. ${leftText(rollout)}`.trim()
    case 'RollsBack':
      return `It rolls back automatically after ${nodes} had the new version. ${failureText(timeline)}`.trim()
    case 'Stops':
      return `It stops with the new version on ${nodes}. ${said}`.trim()
    default:
      return `It gets stuck with the new version on ${nodes}. ${said}`.trim()
  }
}

/** Nodes that the last release left behind belong to it: no other release updates them. */
function unreleasedText(inputs: ForecastInputs): string {
  const left = isUpToDate(inputs) ? '' : leftText(inputs.timeline.rollout)
  return left === ''
    ? 'Nothing to release: every node runs the current template of the DaemonSet.'
    : `Nothing to release: the last release of this template is over. ${left}`
}

/** Whether the planned template is the stable one while another is released, or rolled back already: no new version fails or gets stuck. */
function isWayBack({ daemonSet, snapshot: { rollout, revisions } }: ForecastInputs): boolean {
  const { phase, canaryStatus } = rollout.status ?? {}
  const planned = templateText(daemonSet.spec.template)
  const revision = revisions.find((one) => templateText(templateOf(one)) === planned)
  return phase === 'Progressing' && revision !== undefined && hashOf(revision) === canaryStatus?.stableRevision
}

function wayBackText({ timeline }: ForecastInputs, outcome: Forecast['outcome'], said: string): string {
  const count = new Set(timeline.taken.filter(isOfFirst(timeline)).map(({ node }) => node)).size
  const nodes = `${count} ${count === 1 ? 'node' : 'nodes'}`
  if (outcome === 'Completes' || outcome === 'RollsBack') return `It rolls back to the stable version: ${nodes} in all.`
  return `The rollback to the stable version gets stuck after ${nodes}. ${said}`.trim()
}

/** Nodes that keep their pods now are among those that the release needs. */
function onceFree({ holds: { waits } }: ForecastInputs): string {
  return waits.length === 0 ? '' : `once ${waitsText(waits)} may be updated, `
}

/** Without a release, the strategy of the DaemonSet decides. */
function disabledText({ daemonSet }: ClusterSnapshot): string {
  if (daemonSet?.spec.updateStrategy?.type === 'OnDelete')
    return 'Nothing is released: the Rollout is disabled, and updateStrategy.type is OnDelete. Set spec.disabled to false to release it in steps.'
  return 'The Rollout is disabled: Kubernetes updates all nodes itself, without batches. Set spec.disabled to false to release it in steps.'
}

function leftText(rollout: Rollout): string {
  const restored = conditionOf(rollout, 'StrategyRestored')
  return restored?.status === 'False' ? restored.message : ''
}

function failureText({ failure }: Timeline): string {
  return sentence(failure?.message ?? '')
}
