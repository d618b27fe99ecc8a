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
}

/** From the request to delete until a pod is gone, where nothing tells: the process ends soon, its kubelet sees it a second later. */
const STOP_MS = 1_500
/** From creation to Ready, where no pod tells. */
const START_MS = 10_000
/** A pod that took so many times as long as most was not starting all that time. */
const OUTLIER = 10

/** Measures the pods that run. A pod whose containers were started again tells nothing: its Ready condition is of a later start. */
export function measurePods(pods: readonly Pod[], daemonSet: DaemonSet, nodes: readonly Node[]): PodTimes {
  const told = pods.flatMap((pod) => {
    const ms = startMs(pod)
    const node = pod.spec?.nodeName
    return ms === undefined || node === undefined ? [] : [{ ms, node, created: pod.metadata.creationTimestamp }]
  })
  const half = medianOf(told.map(({ ms }) => ms)) ?? START_MS
  const believed = told.filter(({ ms }) => ms <= OUTLIER * Math.max(half, 1_000))
  const byNode = new Map(believed.map(({ node, ms }) => [node, ms]))
  const moments = Map.groupBy(believed, ({ created }) => created)
  const most = Math.max(0, ...[...moments.values()].map((alike) => alike.length))
  return {
    measured: believed.map(({ ms }) => ms).toSorted((a, b) => a - b),
    startMsOf: (node) => byNode.get(node) ?? half,
    stopMs: stopMsOf(daemonSet, nodes),
    isCoarse: believed.length > 0 && 2 * most > believed.length,
  }
}

function startMs({ metadata, status }: Pod): number | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status !== 'True' || ready.lastTransitionTime === undefined || metadata.deletionTimestamp !== undefined) return undefined
  if ((status?.containerStatuses ?? []).some(({ restartCount = 0 }) => restartCount > 0)) return undefined
  const ms = Date.parse(ready.lastTransitionTime) - Date.parse(metadata.creationTimestamp ?? '')
  return ms >= 0 ? ms : undefined
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
