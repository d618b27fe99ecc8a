import type { DaemonSet, Node, Pod } from '@tranche/kube-types'
import { readPodSettings, SETTINGS_PREFIX } from '@tranche/sim-nodes'

/** How long pods of the DaemonSet take to start and to stop, as far as the cluster tells. Milliseconds. */
export interface PodTimes {
  /** From creation to Ready, of each pod that tells; ascending. */
  readonly measured: readonly number[]
  /** From creation to Ready, by node; half of the measured ones take longer where a node does not tell. */
  startMsOf(node: string): number
  readonly stopMs: number
  /** Whether the moments of creation, which are whole seconds, may be off all the same way: most pods were created at once. */
  readonly isCoarse: boolean
  /** So many pods started together, which may have slowed each of them down; null where they did as in a release. */
  readonly crowd: number | null
}

/** From the request to delete until a pod is gone, where nothing tells: the process ends soon, its kubelet sees it a second later. */
const STOP_MS = 1_500
/** From creation to Ready, where no pod tells. */
const START_MS = 10_000
/** A pod that took so many times as long as most was not starting all that time. */
const OUTLIER = 10
/** In a release that keeps `limit` nodes down, whole seconds let up to so many times as many starts seem to overlap. */
const COMPANY = 3
/** So many starts as in a release are enough to leave those of a crowd aside. */
const ENOUGH = 5

/** One start, as its pod tells it. */
interface Start {
  readonly node: string
  /** Epoch milliseconds, of whole seconds. */
  readonly createdMs: number
  readonly readyMs: number
  readonly ms: number
}

/**
 * Measures the pods that run. A pod whose containers were started again tells nothing: its Ready condition is of a later start.
 * Pods that started with many others, as all do when a DaemonSet is made, tell only where hardly any started as in a release.
 *
 * @param limit nodes that a release has down at a time
 */
export function measurePods(pods: readonly Pod[], daemonSet: DaemonSet, nodes: readonly Node[], limit: number): PodTimes {
  const told = pods.flatMap((pod) => startOf(pod) ?? [])
  const most = medianOf(told.map(({ ms }) => ms)) ?? START_MS
  const sound = told.filter(({ ms }) => ms <= OUTLIER * Math.max(most, 1_000))
  const company = companyOf(sound)
  const quiet = sound.filter((start) => company(start) <= COMPANY * limit)
  const believed = quiet.length >= ENOUGH ? quiet : sound
  const half = medianOf(believed.map(({ ms }) => ms)) ?? START_MS
  const byNode = new Map(believed.map(({ node, ms }) => [node, ms]))
  const alike = Math.max(0, ...[...Map.groupBy(believed, ({ createdMs }) => createdMs).values()].map((starts) => starts.length))
  return {
    measured: believed.map(({ ms }) => ms).toSorted((a, b) => a - b),
    startMsOf: (node) => byNode.get(node) ?? half,
    stopMs: stopMsOf(daemonSet, nodes),
    isCoarse: believed.length > 0 && 2 * alike > believed.length,
    crowd: believed === quiet || sound.length === quiet.length ? null : (medianOf(sound.map((start) => company(start) + 1)) ?? null),
  }
}

function startOf({ metadata, spec, status }: Pod): Start | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status !== 'True' || ready.lastTransitionTime === undefined || metadata.deletionTimestamp !== undefined) return undefined
  if ((status?.containerStatuses ?? []).some(({ restartCount = 0 }) => restartCount > 0)) return undefined
  const [createdMs, readyMs] = [Date.parse(metadata.creationTimestamp ?? ''), Date.parse(ready.lastTransitionTime)]
  const ms = readyMs - createdMs
  return spec?.nodeName !== undefined && ms >= 0 ? { node: spec.nodeName, createdMs, readyMs, ms } : undefined
}

/** @returns how many others were starting at some time while one did */
function companyOf(starts: readonly Start[]): (start: Start) => number {
  const created = starts.map(({ createdMs }) => createdMs).toSorted((a, b) => a - b)
  const ready = starts.map(({ readyMs }) => readyMs).toSorted((a, b) => a - b)
  // All that had begun by its end, but those that had ended before it began.
  return ({ createdMs, readyMs }) => countBelow(created, readyMs + 1) - countBelow(ready, createdMs) - 1
}

/** @param sorted ascending */
function countBelow(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

/** What no pod that runs can tell. Simulated nodes say it in the template. */
function stopMsOf(daemonSet: DaemonSet, nodes: readonly Node[]): number {
  const { metadata, spec } = daemonSet.spec.template
  const annotations = metadata?.annotations ?? {}
  const { terminationGracePeriodSeconds: grace = 30 } = (spec ?? {}) as { readonly terminationGracePeriodSeconds?: number }
  if (annotations[`${SETTINGS_PREFIX}stop-ms`] !== undefined || nodes.some(isSimulated))
    return Math.min(readPodSettings(annotations, '', '').stopMs, grace * 1000)
  return Math.min(STOP_MS, grace * 1000)
}

function isSimulated({ status }: Node): boolean {
  const { nodeInfo } = (status ?? {}) as { readonly nodeInfo?: { readonly containerRuntimeVersion?: string } }
  return nodeInfo?.containerRuntimeVersion?.startsWith('sim://') === true
}

function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
