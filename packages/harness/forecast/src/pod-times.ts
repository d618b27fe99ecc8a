import type { ClusterSnapshot } from '@tranche/api-schema'
import { type ControllerRevision, type DaemonSet, type Node, parseTime, valueIn } from '@tranche/kube-types'
import { readPodSettings, SETTINGS_PREFIX } from '@tranche/sim-nodes'
import { companyOf, type PodStart, startOf } from './pod-starts.ts'
import { meanOf, medianOf, varianceOf } from './statistics.ts'
import { measureStop } from './stop-time.ts'

/** Measured start and stop times of the DaemonSet's pods, in milliseconds. */
export interface PodTimes {
  /** Time from creation to Ready of each measured pod; ascending. */
  readonly believed: readonly number[]
  /** Time from creation to Ready, by node; the mean for a node without a measurement. */
  startMsOf(node: string): number
  readonly stop: StopTime
  /** Whether all creation times, which are whole seconds, may be off in the same direction, because most pods were created together. */
  readonly isCoarse: boolean
  /** Number of pods that started together, which may have slowed each of them down; null when they started as in a release. */
  readonly crowd: number | null
}

/** Time that a pod takes to stop, and its source: pods of earlier releases, the settings of simulated nodes, or a default. */
export interface StopTime {
  readonly ms: number
  readonly source: 'ByReleases' | 'BySettings' | 'ByDefault'
}

/** Inputs of the measurement. */
export interface PodTimesQuestion {
  readonly snapshot: Pick<ClusterSnapshot, 'pods' | 'nodes' | 'revisions'>
  /** Current DaemonSet. */
  readonly daemonSet: DaemonSet
  /** DaemonSet after the planned change. */
  readonly planned: DaemonSet
  /** Number of nodes that a release has down at a time. */
  readonly limit: number
}

/** Default time from the delete request until the pod is gone: the process ends soon, and the kubelet notices a second later. */
const STOP_MS = 1_500
/** Time after its grace period at which a pod that ignores the stop request is gone. */
const GRACE_MARGIN_MS = 5_000
/** Default time from creation to Ready. */
const START_MS = 10_000
/** A start that took this many times the median was delayed by something else. */
const OUTLIER = 10
/** With `limit` nodes down, whole seconds make up to this many times as many starts seem to overlap. */
const COMPANY = 3
/** Number of starts as in a release that suffices to ignore those of a crowd. */
const ENOUGH = 5
/** Variance of the difference of two times that are cut to whole seconds, in square milliseconds. */
const HIDDEN_VARIANCE = 1_000 ** 2 / 6

/**
 * Measures the running pods. Pods that started in a crowd, as after the creation of a DaemonSet, count only when hardly any pod started as
 * in a release. They then count from the time at which their kubelet accepted them, because a crowd waits for the scheduler.
 */
export function measurePods({ snapshot, daemonSet, planned, limit }: PodTimesQuestion): PodTimes {
  const reported = snapshot.pods.flatMap((pod) => startOf(pod) ?? [])
  const most = medianOf(reported.map(wholeMsOf)) ?? START_MS
  const sound = reported.filter((start) => wholeMsOf(start) <= OUTLIER * Math.max(most, 1_000))
  const company = companyOf(sound)
  const quiet = sound.filter((start) => company(start) <= COMPANY * limit)
  const isQuiet = quiet.length >= ENOUGH || quiet.length === sound.length
  const starts = isQuiet ? quiet : sound
  const msOf = isQuiet ? wholeMsOf : kubeletMs(starts)
  const values = starts.map(msOf)
  const mean = values.length === 0 ? START_MS : meanOf(values)
  const believed = believe(values, mean)
  const byNode = new Map(starts.map(({ node }, at) => [node, believed[at]!]))
  const begun = Map.groupBy(starts, ({ createdMs, takenUpMs }) => (isQuiet ? createdMs : takenUpMs))
  const alike = Math.max(0, ...[...begun.values()].map(({ length }) => length))
  return {
    believed: believed.toSorted((a, b) => a - b),
    startMsOf: (node) => byNode.get(node) ?? mean,
    stop: stopTime({ snapshot, daemonSet, planned, limit }, sound),
    isCoarse: starts.length > 0 && 2 * alike > starts.length,
    crowd: isQuiet ? null : (medianOf(sound.map((start) => company(start) + 1)) ?? null),
  }
}

function wholeMsOf({ createdMs, readyMs }: PodStart): number {
  return readyMs - createdMs
}

/** Duration of a start in a crowd, after subtracting the wait for the kubelet beyond the shortest one. */
function kubeletMs(starts: readonly PodStart[]): (start: PodStart) => number {
  const waitMs = starts.reduce((least, { createdMs, takenUpMs }) => Math.min(least, takenUpMs - createdMs), Infinity)
  return ({ takenUpMs, readyMs }) => waitMs + readyMs - takenUpMs
}

/** Shrinks each value towards the mean by the fraction of the variance that comes from cutting times to whole seconds. */
function believe(values: readonly number[], mean: number): readonly number[] {
  const variance = varianceOf(values)
  const real = variance === 0 ? 0 : Math.max(0, 1 - HIDDEN_VARIANCE / variance)
  return values.map((value) => mean + real * (value - mean))
}

/** Settings that no running pod shows. Simulated nodes state them in the template. */
function stopTime({ snapshot, daemonSet, planned, limit }: PodTimesQuestion, starts: readonly PodStart[]): StopTime {
  const annotations = planned.spec.template.metadata?.annotations ?? {}
  const graceMs = graceMsOf(planned)
  if (valueIn(annotations, `${SETTINGS_PREFIX}stop-ms`) !== undefined || snapshot.nodes.some(isSimulated))
    return { ms: Math.min(readPodSettings(annotations, '', '').stopMs, graceMs), source: 'BySettings' }
  const measured = measureStop({
    starts: starts.filter(replacedBy(snapshot, daemonSet)),
    limit,
    minReadyMs: (daemonSet.spec.minReadySeconds ?? 0) * 1_000,
    longestMs: graceMsOf(daemonSet) + GRACE_MARGIN_MS,
  })
  if (measured === undefined) return { ms: Math.min(STOP_MS, graceMs), source: 'ByDefault' }
  return { ms: Math.min(measured, graceMs + GRACE_MARGIN_MS), source: 'ByReleases' }
}

/**
 * Whether a pod replaced another one: the template changed after its node was created and before the pod was. With `maxSurge`, the new pods
 * of a rolling update start before the old ones stop.
 */
function replacedBy(
  { nodes, revisions }: Pick<ClusterSnapshot, 'nodes' | 'revisions'>,
  daemonSet: DaemonSet,
): (start: PodStart) => boolean {
  const nodeMs = new Map(nodes.map(({ metadata }) => [metadata.name, createdMsOf({ metadata })]))
  const [, ...changesMs] = revisions.map(createdMsOf).toSorted((a, b) => a - b)
  const isSurging = Number.parseInt(String(daemonSet.spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0), 10) > 0
  return ({ node, createdMs, isReleased }) =>
    (isReleased || !isSurging) && changesMs.some((changedMs) => changedMs >= (nodeMs.get(node) ?? Infinity) && changedMs <= createdMs)
}

function createdMsOf({ metadata }: Pick<ControllerRevision, 'metadata'>): number {
  return parseTime(metadata.creationTimestamp) ?? Number.NaN
}

function graceMsOf({ spec }: DaemonSet): number {
  const { terminationGracePeriodSeconds = 30 } = (spec.template.spec ?? {}) as { readonly terminationGracePeriodSeconds?: number }
  return terminationGracePeriodSeconds * 1_000
}

/** @returns whether the node belongs to a simulator */
export function isSimulated({ status }: Pick<Node, 'status'>): boolean {
  const { nodeInfo } = (status ?? {}) as { readonly nodeInfo?: { readonly containerRuntimeVersion?: string } }
  return nodeInfo?.containerRuntimeVersion?.startsWith('sim://') === true
}
