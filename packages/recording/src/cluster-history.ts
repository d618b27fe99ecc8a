import { createOrders, type Orders } from './recorded-orders.ts'
import type { RecordedPod, RecordedWrite } from './recorded-write.ts'

/** One pod, from its first write on. */
export interface PodLife {
  readonly uid: string
  readonly node: string
  /** Name of the controlling owner. */
  readonly owner: string | undefined
  /** `controller-revision-hash`. */
  readonly hash: string | undefined
  /** Since when it has been Ready without a break; null while it is not. */
  readonly readySinceMs: number | null
  /** When it began to terminate, or was gone; null while it stands. */
  readonly endedMs: number | null
}

/** A node on which we deleted a pod, without an available one since. */
export interface FlownNode {
  readonly node: string
  readonly sinceMs: number
}

/** What a recording has shown so far of one DaemonSet, its nodes and pods. Times are epoch milliseconds by the server's clock. */
export interface History extends Orders {
  readonly daemonSet: string
  /** Goes on by one write. */
  apply(write: RecordedWrite): void
  /** @returns the pod that a write is about, as it was before; null when it was not there */
  pod(write: RecordedWrite): PodLife | null
  /** Nodes that exist. */
  desired(): readonly string[]
  /** @returns the most nodes that existed at a time since `lagMs` before `atMs` */
  mostDesired(atMs: number, lagMs: number): number
  /** @returns since when no standing pod of another revision has been on the node; null while one is */
  noOldSince(node: string, revision: string): number | null
  /** @returns since when the node has had no available pod; Infinity while it has one */
  downSince(node: string, atMs: number): number
  inFlight(atMs: number): readonly FlownNode[]
  /** We delete the pod: its node is in flight until another of its pods is available. */
  fly(pod: PodLife, atMs: number): void
}

/** Begins the history of the DaemonSet of this name. */
export function createHistory(daemonSet: string): History {
  const orders = createOrders(daemonSet)
  const nodes = new Map<string, number>()
  const removedNodes: number[] = []
  const pods = new Map<string, PodLife>()
  const lastUpMs = new Map<string, number>()
  const flights = new Map<string, { readonly sinceMs: number; readonly uids: Set<string> }>()

  function podsOn(node: string): readonly PodLife[] {
    return [...pods.values()].filter((pod) => pod.node === node && pod.owner === daemonSet)
  }

  function availableOn(node: string, atMs: number): readonly PodLife[] {
    const minReadyMs = orders.minReadyMs()
    return podsOn(node).filter(
      ({ endedMs, readySinceMs }) => endedMs === null && readySinceMs !== null && readySinceMs + minReadyMs <= atMs,
    )
  }

  /** What the clock alone has changed by now: pods become available. */
  function settle(node: string, atMs: number): void {
    const available = availableOn(node, atMs)
    if (available.length > 0) lastUpMs.set(node, atMs)
    const deleted = flights.get(node)?.uids
    if (available.some(({ uid }) => deleted?.has(uid) === false)) flights.delete(node)
  }

  function applyPod(write: RecordedWrite): void {
    const seen = write.o as unknown as RecordedPod
    const before = pods.get(seen.uid)
    const node = seen.node ?? before?.node
    if (node === undefined) return
    settle(node, write.t)
    const ended = write.type === 'DELETED' || seen.deleting
    pods.set(seen.uid, {
      uid: seen.uid,
      node,
      owner: seen.owner,
      hash: seen.hash,
      readySinceMs: seen.ready && !ended ? (before?.readySinceMs ?? write.t) : null,
      endedMs: ended ? (before?.endedMs ?? write.t) : null,
    })
  }

  function applyNode({ type, o, t }: RecordedWrite): void {
    const name = String(o['name'])
    if (type !== 'DELETED') return void (nodes.has(name) || nodes.set(name, t))
    nodes.delete(name)
    flights.delete(name)
    lastUpMs.delete(name)
    removedNodes.push(t)
  }

  return {
    ...orders,
    daemonSet,
    apply(write) {
      if (write.kind === 'Pod') applyPod(write)
      else if (write.kind === 'Node') applyNode(write)
      else {
        // minReadySeconds may change: what was available before it was so.
        for (const node of nodes.keys()) if (write.kind === 'DaemonSet') settle(node, write.t)
        orders.follow(write, nodes.size)
      }
    },
    pod: ({ o }) => pods.get(String(o['uid'])) ?? null,
    desired: () => [...nodes.keys()],
    mostDesired: (atMs, lagMs) => nodes.size + removedNodes.filter((removedMs) => removedMs >= atMs - lagMs).length,
    noOldSince(node, revision) {
      const others = podsOn(node).filter(({ hash }) => hash !== revision)
      if (others.some(({ endedMs }) => endedMs === null)) return null
      return Math.max(Number.NEGATIVE_INFINITY, ...others.map(({ endedMs }) => endedMs ?? 0))
    },
    downSince(node, atMs) {
      settle(node, atMs)
      return availableOn(node, atMs).length > 0 ? Number.POSITIVE_INFINITY : Math.max(nodes.get(node) ?? 0, lastUpMs.get(node) ?? 0)
    },
    inFlight(atMs) {
      for (const node of flights.keys()) settle(node, atMs)
      return [...flights].map(([node, { sinceMs }]) => ({ node, sinceMs }))
    },
    fly({ node, uid }, atMs) {
      const known = flights.get(node)
      if (known === undefined) flights.set(node, { sinceMs: atMs, uids: new Set([uid]) })
      else known.uids.add(uid)
    },
  }
}
