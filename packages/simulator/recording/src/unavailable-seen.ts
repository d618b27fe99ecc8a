import type { RecordedPod, RecordedWrite } from './record/recorded-write.ts'

/** DaemonSet to look at, and the start time. */
export interface UnavailableQuery {
  /** Compared when the recording has namespaces. */
  readonly namespace: string
  readonly daemonSet: string
  /** Epoch milliseconds by the server's clock. Earlier writes only set the initial state. */
  readonly sinceMs: number
}

/** Worst moment of a recording. */
export interface UnavailableSeen {
  /** Largest number of nodes that were down at once. */
  readonly max: number
  /** Epoch milliseconds of the first such moment; null when no node was ever down. */
  readonly atMs: number | null
  /** Nodes that were down then, by name. */
  readonly nodes: readonly string[]
}

/**
 * Counts the nodes that were down at once, after every accepted write since `sinceMs`.
 *
 * A node is down unless it has a pod of the DaemonSet that is Ready and not terminating, so a deletion counts from its acceptance. A node
 * counts if it had a pod of the DaemonSet by `sinceMs`, or else from its first Ready pod on. A removed node stops counting. Ignores
 * `minReadySeconds`.
 */
export function unavailableSeen(writes: Iterable<RecordedWrite>, query: UnavailableQuery): UnavailableSeen {
  const tally = createTally()
  let worst: UnavailableSeen = { max: 0, atMs: null, nodes: [] }
  let started = false
  const look = (atMs: number): void => {
    if (tally.down.size > worst.max) worst = { max: tally.down.size, atMs, nodes: [...tally.down].sort(byCodeUnit) }
  }
  for (const write of writes) {
    if (!started && write.t > query.sinceMs) {
      started = true
      look(query.sinceMs)
    }
    apply(tally, write, query)
    if (started) look(write.t)
  }
  if (!started) look(query.sinceMs)
  return worst
}

/** Ready pods per node, and the nodes without one. */
interface Tally {
  readonly pods: Map<string, { readonly node: string; readonly up: boolean }>
  readonly up: Map<string, number>
  readonly down: Set<string>
  /** Removed nodes that have not returned: writes for their remaining pods continue for a while. */
  readonly gone: Set<string>
}

function createTally(): Tally {
  return { pods: new Map(), up: new Map(), down: new Set(), gone: new Set() }
}

function apply(tally: Tally, write: RecordedWrite, query: UnavailableQuery): void {
  if (write.kind === 'Node' && write.type === 'DELETED') return forgetNode(tally, String(write.o['name']))
  if (write.kind === 'Node') return void tally.gone.delete(String(write.o['name']))
  if (write.kind !== 'Pod' || (write.namespace !== undefined && write.namespace !== query.namespace)) return
  const pod = write.o as unknown as RecordedPod
  if (pod.owner !== query.daemonSet) return
  const before = tally.pods.get(pod.uid)
  if (before?.up) addUp(tally, before.node, -1)
  if (write.type === 'DELETED') return void tally.pods.delete(pod.uid)

  const node = pod.node ?? before?.node
  if (node === undefined || tally.gone.has(node)) return
  const up = pod.ready && !pod.deleting
  tally.pods.set(pod.uid, { node, up })
  if (up) addUp(tally, node, 1)
  else if (write.t <= query.sinceMs && !tally.up.has(node)) addUp(tally, node, 0)
}

/** Tracks the node from now on, even with no pod left. */
function addUp(tally: Tally, node: string, change: -1 | 0 | 1): void {
  const up = (tally.up.get(node) ?? 0) + change
  tally.up.set(node, up)
  if (up > 0) tally.down.delete(node)
  else tally.down.add(node)
}

function forgetNode(tally: Tally, node: string): void {
  tally.up.delete(node)
  tally.down.delete(node)
  tally.gone.add(node)
  for (const [uid, pod] of tally.pods) if (pod.node === node) tally.pods.delete(uid)
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
