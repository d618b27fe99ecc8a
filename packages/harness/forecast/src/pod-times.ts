import type { ClusterSnapshot } from '@tranche/api-schema'
import type { ControllerRevision, DaemonSet, Node } from '@tranche/kube-types'
import { readPodSettings, SETTINGS_PREFIX } from '@tranche/sim-nodes'
import { companyOf, type PodStart, startOf } from './pod-starts.ts'
import { meanOf, medianOf, varianceOf } from './statistics.ts'
import { measureStop } from './stop-time.ts'

/** How long pods of the DaemonSet take to start and to stop, as far as the cluster tells. Milliseconds. */
export interface PodTimes {
  /** From creation to Ready, as it is believed of each pod that tells; ascending. */
  readonly believed: readonly number[]
  /** From creation to Ready, by node; as long as the mean where a node does not tell. */
  startMsOf(node: string): number
  readonly stop: StopTime
  /** Whether the moments of creation, which are whole seconds, may be off all the same way: most pods were created at once. */
  readonly isCoarse: boolean
  /** So many pods started together, which may have slowed each of them down; null where they did as in a release. */
  readonly crowd: number | null
}

/** How long a pod takes to stop, and who says so: pods of earlier releases, the settings of simulated nodes, or nobody. */
export interface StopTime {
  readonly ms: number
  readonly source: 'ByReleases' | 'BySettings' | 'ByDefault'
}

/** What is measured. */
export interface PodTimesQuestion {
  readonly snapshot: Pick<ClusterSnapshot, 'pods' | 'nodes' | 'revisions'>
  /** As it is. */
  readonly daemonSet: DaemonSet
  /** As the planned change leaves it. */
  readonly planned: DaemonSet
  /** Nodes that a release has down at a time. */
  readonly limit: number
}

/** From the request to delete until a pod is gone, where nothing tells: the process ends soon, its kubelet sees it a second later. */
const STOP_MS = 1_500
/** A pod that ignores the request to stop is gone so long after its grace period. */
const GRACE_MARGIN_MS = 5_000
/** From creation to Ready, where no pod tells. */
const START_MS = 10_000
/** A pod that took so many times as long as most was not starting all that time. */
const OUTLIER = 10
/** In a release that keeps `limit` nodes down, whole seconds let up to so many times as many starts seem to overlap. */
const COMPANY = 3
/** So many starts as in a release are enough to leave those of a crowd aside. */
const ENOUGH = 5
/** How far values lie apart where nothing but the fraction of both moments differs: the difference of two numbers, each cut to seconds. */
const HIDDEN_VARIANCE = 1_000 ** 2 / 6

/**
 * Measures the pods that run. Those that started with many others, as all do when a DaemonSet is made, tell only where hardly any started as
 * in a release, and then only from the moment when their kubelets took them up: a crowd waits for the scheduler.
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

/** What is left of a start in a crowd where no pod waits longer for its kubelet than the quickest did. */
function kubeletMs(starts: readonly PodStart[]): (start: PodStart) => number {
  const waitMs = starts.reduce((least, { createdMs, takenUpMs }) => Math.min(least, takenUpMs - createdMs), Infinity)
  return ({ takenUpMs, readyMs }) => waitMs + readyMs - takenUpMs
}

/** Draws each value to the mean by the part of their differences that cutting moments to whole seconds makes. */
function believe(values: readonly number[], mean: number): readonly number[] {
  const variance = varianceOf(values)
  const real = variance === 0 ? 0 : Math.max(0, 1 - HIDDEN_VARIANCE / variance)
  return values.map((value) => mean + real * (value - mean))
}

/** What no pod that runs can tell of itself. Simulated nodes say it in the template. */
function stopTime({ snapshot, daemonSet, planned, limit }: PodTimesQuestion, starts: readonly PodStart[]): StopTime {
  const annotations = planned.spec.template.metadata?.annotations ?? {}
  const graceMs = graceMsOf(planned)
  if (annotations[`${SETTINGS_PREFIX}stop-ms`] !== undefined || snapshot.nodes.some(isSimulated))
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
 * Whether a pod took the place of another: the template has changed since its node was there, and before the pod was. With `maxSurge`, the new
 * pods of a rolling update are there before the old ones stop.
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
  return Date.parse(metadata.creationTimestamp ?? '')
}

function graceMsOf({ spec }: DaemonSet): number {
  const { terminationGracePeriodSeconds = 30 } = (spec.template.spec ?? {}) as { readonly terminationGracePeriodSeconds?: number }
  return terminationGracePeriodSeconds * 1_000
}

/** @returns whether a node is one of a simulator, and not a machine */
export function isSimulated({ status }: Pick<Node, 'status'>): boolean {
  const { nodeInfo } = (status ?? {}) as { readonly nodeInfo?: { readonly containerRuntimeVersion?: string } }
  return nodeInfo?.containerRuntimeVersion?.startsWith('sim://') === true
}
