import { createHistory, type History, type PodLife } from './cluster-history.ts'
import type { RecordedWrite } from './recorded-write.ts'

/** A guarantee that a recording can be held against. */
export type RecordedGuarantee = 'G1' | 'G2' | 'G3' | 'G4' | 'G9'

/** One deletion that a guarantee forbids. */
export interface Breach {
  readonly guarantee: RecordedGuarantee
  /** When the server accepted the deletion, in epoch milliseconds. */
  readonly atMs: number
  readonly node: string
  /** One sentence with the numbers. */
  readonly text: string
}

/** Which deletions to judge, and how. */
export interface BreachQuery {
  readonly daemonSet: string
  /** @returns whether this actor's deletions of pods are ours */
  readonly isOurs: (actor: string) => boolean
  /**
   * How late watches may be, in milliseconds: what others did to nodes or pods since is not held against a deletion.
   * Infinity: others are not looked at. @default 1000
   */
  readonly watchLagMs?: number
}

/**
 * Holds every deletion of ours that the server accepted against the guarantees, by what the recording shows and nothing
 * else: pods, nodes, the announcement on the DaemonSet, the wishes and acknowledgements on the Rollout, and the limit in
 * the BatchRelease. Shares no code with what decides.
 *
 * - G1: no Ready pod is deleted while as many nodes as the limit are down, ours and those that others have broken.
 * - G2: nodes on which we deleted and which have had no available pod since are never more than the limit.
 * - G3: the nodes that we took never exceed the batch that was ordered; leaked ones count as soon as watches show them.
 * - G4: only standing pods of the DaemonSet that are not of the revision being released.
 * - G9: nothing between the acknowledgement of a stop and its lift.
 *
 * @param writes all that was recorded, from before the Rollout was there
 */
export function findBreaches(writes: Iterable<RecordedWrite>, query: BreachQuery): readonly Breach[] {
  const history = createHistory(query.daemonSet)
  const lagMs = query.watchLagMs ?? 1000
  const taken = new Map<string, Set<string>>()
  const breaches: Breach[] = []
  for (const write of writes) {
    const pod = deletedPod(history, write, query)
    if (pod !== null) {
      const breach = (guarantee: RecordedGuarantee, text: string): void =>
        void breaches.push({ guarantee, atMs: write.t, node: pod.node, text })
      judge({ history, pod, atMs: write.t, lagMs, taken, breach })
    }
    history.apply(write)
  }
  return breaches
}

/** @returns how many deletions of ours the server accepted */
export function countDeletions(writes: Iterable<RecordedWrite>, query: BreachQuery): number {
  const history = createHistory(query.daemonSet)
  let count = 0
  for (const write of writes) {
    if (deletedPod(history, write, query) !== null) count++
    history.apply(write)
  }
  return count
}

/** One deletion about to be applied to the history before it. */
interface Deletion {
  readonly history: History
  readonly pod: PodLife
  readonly atMs: number
  readonly lagMs: number
  /** Revision → nodes that we took for it. */
  readonly taken: Map<string, Set<string>>
  readonly breach: (guarantee: RecordedGuarantee, text: string) => void
}

function deletedPod(history: History, write: RecordedWrite, { isOurs }: BreachQuery): PodLife | null {
  if (write.kind !== 'Pod' || write.verb !== 'delete' || !isOurs(write.actor ?? '')) return null
  return history.pod(write)
}

function judge(deletion: Deletion): void {
  judgeAim(deletion)
  judgeStop(deletion)
  judgeBatch(deletion)
  judgeBudget(deletion)
}

function judgeAim({ history, pod, breach }: Deletion): void {
  const canary = history.announced().canary
  if (pod.owner !== history.daemonSet) breach('G4', `the pod belongs to ${pod.owner ?? 'nobody'}`)
  if (pod.endedMs !== null) breach('G4', 'the pod was terminating already')
  if (pod.hash !== undefined && pod.hash === canary) breach('G4', `the pod runs ${canary}, the revision being released`)
}

function judgeStop({ history, breach }: Deletion): void {
  const stop = history.acknowledgedStop()
  if (stop !== null) breach('G9', `the stop (${stop}) was acknowledged and not lifted`)
}

function judgeBatch({ history, pod, atMs, lagMs, taken, breach }: Deletion): void {
  const { canary, partition } = history.announced()
  if (history.isGone()) return
  if (canary === undefined || partition === undefined) return breach('G3', 'nothing was ordered')
  const ours = taken.get(canary) ?? new Set<string>()
  taken.set(canary, ours.add(pod.node))
  const size = history.mostDesired(atMs, lagMs) - partition
  const nodes = history.desired().filter((node) => {
    if (node === pod.node) return true
    const since = history.noOldSince(node, canary)
    return since !== null && (ours.has(node) || atMs - since >= lagMs)
  })
  if (nodes.length > size) breach('G3', `${nodes.length} nodes are taken, ${size} were ordered`)
}

function judgeBudget({ history, pod, atMs, lagMs, breach }: Deletion): void {
  const inFlight = history.inFlight(atMs)
  const others = inFlight.filter(({ node }) => node !== pod.node)
  const sinceMs = Math.min(atMs, ...inFlight.map((flown) => flown.sinceMs))
  const limit = history.limitSince(sinceMs)
  const declared = history.mostDeclared()
  if (limit > declared) breach('G2', `the limit is ${limit}, but the DaemonSet never allowed more than ${declared}`)
  if (others.length + 1 > limit) breach('G2', `${others.length + 1} nodes are in flight, ${limit} are allowed`)
  if (pod.readySinceMs !== null) {
    const down = new Set(others.map(({ node }) => node))
    for (const node of history.desired()) if (node !== pod.node && history.downSince(node, atMs) <= atMs - lagMs) down.add(node)
    if (down.size >= limit) breach('G1', `${down.size} other nodes are down, ${limit} are allowed: ${[...down].sort().join(', ')}`)
  }
  history.fly(pod, atMs)
}
