import type { FleetPod } from '@tranche/fleet'
import { controlledBy } from '@tranche/planner'
import type { ExportParts } from './export-release-metrics.ts'

/** A node without a Ready pod. */
interface DownNode {
  readonly node: string
  readonly sinceMs: number
  /** UID of the pod that became unavailable. */
  readonly podUid: string
  readonly cause: 'release' | 'other'
}

/**
 * Measures the time that nodes have no Ready pod during a release, as `tranche_node_down_seconds`. It starts when the watch shows the
 * Ready pod as terminating or not Ready, and ends when it shows a Ready pod on the node.
 */
export function followDownTime({ metrics, cluster, clock, isLeading }: Omit<ExportParts, 'schemas' | 'log'>): void {
  const { pods, nodes, daemonSets, batchReleases, overlay } = cluster
  /** By DaemonSet and node; bounded by the number of DaemonSet pods. */
  const down = new Map<string, DownNode>()

  function permitsFor({ namespace, ownerUid }: FleetPod): readonly string[] | null {
    const daemonSet = daemonSets.store.list().find(({ metadata }) => metadata.uid === ownerUid && metadata.namespace === namespace)
    const control = daemonSet === undefined ? undefined : controlledBy(daemonSet)
    if (daemonSet === undefined || control === undefined) return null
    const release = overlay.batchReleases.get({ namespace: daemonSet.metadata.namespace ?? '', name: control.name })
    return release?.status?.flight?.permits.map(({ podUid }) => podUid) ?? []
  }

  function goesDown(pod: FleetPod): void {
    const permits = permitsFor(pod)
    if (permits === null) return
    const cause = permits.includes(pod.uid) ? 'release' : 'other'
    down.set(placeOf(pod), { node: pod.node, sinceMs: clock.monotonicMs(), podUid: pod.uid, cause })
  }

  function comesUp(pod: FleetPod): void {
    const known = down.get(placeOf(pod))
    if (known === undefined) return
    down.delete(placeOf(pod))
    if (isLeading()) metrics.observe('tranche_node_down_seconds', { cause: known.cause }, (clock.monotonicMs() - known.sinceMs) / 1000)
  }

  pods.subscribe({
    onChange(_key, previous, current) {
      if (isUp(previous) && !isUp(current)) goesDown(previous)
      if (isUp(current) && !isUp(previous)) comesUp(current)
    },
  })
  // The watch of BatchReleases may lag behind the watch of pods.
  batchReleases.subscribe({
    onChange(_key, _previous, current) {
      if (down.size === 0) return
      const permitted = new Set(current?.status?.flight?.permits.map(({ podUid }) => podUid))
      for (const [place, one] of down) if (permitted.has(one.podUid)) down.set(place, { ...one, cause: 'release' })
    },
  })
  nodes.subscribe({
    onChange(_key, previous, current) {
      if (current !== undefined || previous === undefined) return
      for (const [place, { node }] of down) if (node === previous.name) down.delete(place)
    },
  })
  daemonSets.subscribe({
    onChange(_key, previous, current) {
      if (current !== undefined || previous === undefined) return
      for (const place of down.keys())
        if (place.startsWith(placePrefix(previous.metadata.namespace ?? '', previous.metadata.uid))) down.delete(place)
    },
  })
}

function isUp(pod: FleetPod | undefined): pod is FleetPod {
  return pod?.ready === true && !pod.terminating
}

function placeOf({ namespace, ownerUid, node }: FleetPod): string {
  return `${placePrefix(namespace, ownerUid)}${node}`
}

function placePrefix(namespace: string, daemonSetUid: string): string {
  return `${namespace} ${daemonSetUid} `
}
