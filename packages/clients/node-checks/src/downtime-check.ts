import { durationMs } from '@tranche/api-schema'
import { type Clock, durationText } from '@tranche/clock'
import type { NodeDowntimes, WatchedCluster } from '@tranche/cluster'
import {
  type AgentReturn,
  agentReturn,
  allDowntimes,
  DOWNTIME_WINDOW_MS,
  downtimeBegun,
  downtimeEnded,
  isStartOutdated,
  isStillAway,
  downtimeName,
  type Downtimes,
  type DowntimeWanted,
  type NodeAgent,
  type NodeDowntime,
  type OpenDowntime,
  type SeenPermit,
  spentDowntime,
} from '@tranche/drain'
import type { LivePod, NodeCheck, Preparation, PreparationRules } from '@tranche/fence'
import { type FleetPod, isAvailable, nodeInView } from '@tranche/fleet'
import { compareResourceVersions, type DaemonSet, type ObjectKey, parseTime } from '@tranche/kube-types'
import { isWayBack } from '@tranche/verdict'
import { actOnEach } from './act-on-each.ts'
import { blocked, type Check, type CheckQuestion, type CheckTarget } from './check.ts'
import { CHANGED_AGAIN_MS, createLeaseAccess, type LeaseAccess } from './lease-access.ts'
import { isControlling, isPermitOver, permitOn, showsEndOf } from './permit-on-node.ts'
import { createTakenNames, type TakenNames } from './taken-names.ts'

/** Dependencies of {@link createDowntimeCheck}. */
export interface DowntimeParts {
  readonly cluster: WatchedCluster
  /** Shows the time of the API server. */
  readonly clock: Clock
  /** Undefined if the installation does not allow policies to limit downtime. */
  readonly downtimes: NodeDowntimes | undefined
  /** Reads a pod live. @returns null if it is gone @throws if there is no clear response */
  readonly readPod: (pod: ObjectKey, signal: AbortSignal) => Promise<LivePod | null>
  /** Namespaces that this process watches; undefined for all. */
  readonly watched: readonly string[] | undefined
}

/** Name of the check in its preparations. */
const DOWNTIME = 'downtime'

/** Longest delay before a node at the limit is asked again, in milliseconds: the policy may allow more by then. That costs no request. */
const SPENT_AGAIN_MS = 300_000

/**
 * Keeps the pods of nodes whose agent was away for long enough in the last 24 hours (`downtime.perDay` of the policy). One request remembers a
 * deletion before it is sent, one its end; both are read from a watch. A rollback is never held, and remembered if its Lease can be read and
 * written. A node whose agent is away already is not held either.
 */
export function createDowntimeCheck(parts: DowntimeParts): Check {
  return new DowntimeCheck(parts)
}

class DowntimeCheck implements Check {
  readonly name = DOWNTIME
  readonly #parts: DowntimeParts
  readonly #access: LeaseAccess
  /** Names of Leases. */
  readonly #taken: TakenNames

  constructor(parts: DowntimeParts) {
    this.#parts = parts
    this.#access = createLeaseAccess(parts.clock, 'DowntimeFailed')
    this.#taken = createTakenNames(parts.clock)
  }

  rules({ release }: CheckTarget): PreparationRules | undefined {
    return allowedMs(release) === null ? undefined : { ahead: 0 }
  }

  preparations({ release, daemonSet }: CheckTarget): readonly Preparation[] {
    // A DaemonSet that was created again has memories of its own.
    const begun = this.#parts.downtimes?.list(release.metadata.uid).filter((one) => one.daemonSet.uid === daemonSet.metadata.uid) ?? []
    return begun.map(({ node, open }) => {
      const isStale = open !== null && this.#isUnused(open, daemonSet, node)
      return { node, check: DOWNTIME, state: 'begun', isAhead: false, isStale, changesAtMs: null }
    })
  }

  /** Whether the permit is over, and the pod is seen in a newer version, in which it cannot delete it. A later permit is another downtime. */
  #isUnused({ permitted, wasAway }: OpenDowntime, daemonSet: DaemonSet, node: string): boolean {
    const { podUid, podResourceVersion } = permitted.permit
    const pod = nodeInView(this.#parts.cluster.fleet.view(daemonSet), node)?.pods.find(({ uid }) => uid === podUid)
    if (pod === undefined || pod.terminating || wasAway === true) return false
    return compareResourceVersions(pod.resourceVersion, podResourceVersion) > 0 && isPermitOver(permitted, this.#parts.cluster)
  }

  async check(target: CheckTarget, { node, purpose }: CheckQuestion, signal: AbortSignal): Promise<NodeCheck | null> {
    const allowed = allowedMs(target.release)
    if (allowed === null || purpose === 'ahead') return null
    const { downtimes } = this.#parts
    // Without the answer for a permit, the deletion would not be asked about.
    if (isWayBack(target.release)) return purpose === 'deletion' ? this.#rememberForRollback(target, node, signal) : READY_FOR_PERMIT
    if (downtimes === undefined) return blocked('DowntimeNotAllowed', NOT_ALLOWED)
    const unread = this.#access.unread(downtimes)
    if (unread !== null) return unread
    const spent = this.#spent(target.daemonSet, node, allowed)
    if (spent !== null) return spent
    const lease = downtimeName(agentOf(target.daemonSet, node))
    const failure = this.#access.failureOn(lease)
    if (failure !== null) return blocked('DowntimeFailed', failure)
    if (purpose === 'deletion') return this.#remember(downtimes, target, node, signal)
    return this.#access.mayFail(lease) ? this.#tryToWrite(downtimes, target, node, signal) : READY_FOR_PERMIT
  }

  async undo(target: CheckTarget, node: string, signal: AbortSignal): Promise<void> {
    const { downtimes, cluster } = this.#parts
    const memory = downtimes?.get(agentOf(target.daemonSet, node)) ?? null
    if (memory === null || memory.open === null || !isPermitOver(memory.open.permitted, cluster, target)) return
    await this.#closeIfOver(memory, target.daemonSet, signal)
  }

  async sweep(signal: AbortSignal): Promise<void> {
    const { downtimes, watched } = this.#parts
    if (downtimes?.isSynced() !== true) return
    const memories = downtimes.list().filter(({ daemonSet }) => watched === undefined || watched.includes(daemonSet.namespace))
    await actOnEach(memories, (memory) => this.#sweepOne(downtimes, memory, signal), signal)
  }

  /** A pass decides about the permits of a release that controls its DaemonSet. */
  async #sweepOne(downtimes: NodeDowntimes, memory: NodeDowntime, signal: AbortSignal): Promise<void> {
    const { cluster, clock } = this.#parts
    const { open, daemonSet } = memory
    // Meanwhile another release may have remembered a permit of its own.
    if (downtimes.get(memory)?.resourceVersion !== memory.resourceVersion) return
    const known = cluster.overlay.daemonSets.get(daemonSet)
    if (known?.metadata.uid !== daemonSet.uid) {
      if (lastMs(memory) <= clock.nowMs() - DOWNTIME_WINDOW_MS) await downtimes.forget(memory, signal)
      return
    }
    if (open === null || isControlling(open.permitted.release, cluster) || !isPermitOver(open.permitted, cluster)) return
    await this.#closeIfOver(memory, known, signal)
  }

  #spent(daemonSet: DaemonSet, node: string, allowed: number): NodeCheck | null {
    const { clock, downtimes } = this.#parts
    const memory = downtimes?.get(agentOf(daemonSet, node)) ?? null
    // A node without a Ready pod loses nothing: a fix of a bad version must not wait for its downtime.
    if (memory === null || !this.#isAgentThere(daemonSet, node)) return null
    const nowMs = clock.nowMs()
    const all = allDowntimes(memory, this.#returnOf(memory, daemonSet), nowMs)
    const spent = spentDowntime(all, allowed, nowMs)
    if (spent === null) return null
    const until = `it can be updated at ${new Date(spent.untilMs).toISOString()}`
    const message = `its agent was away for ${durationText(spent.spentMs)} of the ${durationText(allowed)} allowed in 24 hours; ${until}`
    const againInMs = Math.min(SPENT_AGAIN_MS, Math.max(CHANGED_AGAIN_MS, spent.untilMs - nowMs))
    return { ...blocked('DowntimeSpent', message), againInMs }
  }

  async #remember(downtimes: NodeDowntimes, target: CheckTarget, node: string, signal: AbortSignal): Promise<NodeCheck> {
    const { daemonSet } = target
    const permitted = permitOn(target, node)
    if (permitted === null) return { kind: 'pending', againInMs: CHANGED_AGAIN_MS }
    const agent = agentOf(daemonSet, node)
    const memory = downtimes.get(agent)
    const nowMs = this.#parts.clock.nowMs()
    const begun =
      downtimeBegun(memory ?? { past: [], open: null }, permitted, this.#returnOf(memory, daemonSet), nowMs) ??
      (isWayBack(target.release) ? null : await this.#startedLater(memory, permitted, { daemonSet, nowMs }, signal))
    // Another process may have written the memory meanwhile.
    if (downtimes.get(agent)?.resourceVersion !== memory?.resourceVersion) return { kind: 'pending', againInMs: CHANGED_AGAIN_MS }
    return begun === null ? READY : ((await this.#write(downtimes, { agent, downtimes: begun }, signal)) ?? READY)
  }

  /**
   * A deletion that was refused, or waited for its budget, begins no downtime. The watch may be behind: another process may have deleted the pod.
   *
   * @returns null if the start that is remembered is about right, or is not known to be wrong
   * @throws if the pod cannot be read
   */
  async #startedLater(
    memory: NodeDowntime | null,
    permitted: SeenPermit,
    { daemonSet, nowMs }: { readonly daemonSet: DaemonSet; readonly nowMs: number },
    signal: AbortSignal,
  ): Promise<Downtimes | null> {
    if (memory === null || memory.open === null) return null
    if (!isStartOutdated(memory.open, permitted, this.#returnOf(memory, daemonSet), nowMs)) return null
    const { podUid } = permitted.permit
    const seen = nodeInView(this.#parts.cluster.fleet.view(daemonSet), memory.node)?.pods.find(({ uid }) => uid === podUid)
    const pod = seen === undefined ? null : await this.#parts.readPod(seen, signal)
    const isThere = pod?.uid === podUid && !pod.terminating
    return isThere ? { past: memory.past, open: { ...memory.open, fromMs: nowMs } } : null
  }

  /**
   * While Leases cannot be written, that is found out before a node gets a permit: it would be drained in vain. The downtimes in it stay as they are.
   */
  async #tryToWrite(downtimes: NodeDowntimes, { daemonSet }: CheckTarget, node: string, signal: AbortSignal): Promise<NodeCheck> {
    const agent = agentOf(daemonSet, node)
    const { past, open }: Downtimes = downtimes.get(agent) ?? { past: [], open: null }
    return (await this.#write(downtimes, { agent, downtimes: { past, open } }, signal)) ?? READY_FOR_PERMIT
  }

  /** @returns null once it is written */
  async #write(downtimes: NodeDowntimes, wanted: Omit<DowntimeWanted, 'nodeUid'>, signal: AbortSignal): Promise<NodeCheck | null> {
    const nodeUid = this.#parts.cluster.nodes.store.get({ namespace: '', name: wanted.agent.node })?.uid
    const written = await downtimes.write({ ...wanted, nodeUid }, signal)
    if (written.kind === 'changed') return { kind: 'pending', againInMs: CHANGED_AGAIN_MS }
    const name = downtimeName(wanted.agent)
    if (written.kind === 'taken' && !this.#taken.isTakenForLong(name)) return { kind: 'pending', againInMs: CHANGED_AGAIN_MS }
    if (written.kind === 'done') {
      this.#taken.forget(name)
      this.#access.written(name)
      return null
    }
    const why = written.kind === 'taken' ? `the Lease ${name} exists, but is no memory of downtime; delete it` : written.message
    const message = `its downtime cannot be written in namespace ${downtimes.namespace}: ${why}`
    this.#access.failed(name, message)
    return blocked('DowntimeFailed', message)
  }

  /** Remembers the deletion if it can: a rollback is never held. Nodes whose Leases are slow to write wait for that once a minute. */
  async #rememberForRollback(target: CheckTarget, node: string, signal: AbortSignal): Promise<NodeCheck> {
    const { downtimes } = this.#parts
    const lease = downtimeName(agentOf(target.daemonSet, node))
    if (downtimes?.isSynced() !== true || this.#access.failureOn(lease) !== null) return READY
    try {
      await this.#remember(downtimes, target, node, signal)
    } catch (error) {
      if (signal.aborted) throw error
      this.#access.failed(lease, error instanceof Error ? error.message : String(error))
    }
    return READY
  }

  /** A downtime is over once the agent is back, or is not desired on the node any more. */
  async #closeIfOver(memory: NodeDowntime, owner: DaemonSet, signal: AbortSignal): Promise<void> {
    const { cluster, clock, downtimes } = this.#parts
    const { daemonSet, node, open } = memory
    if (open === null || !showsEndOf(open.permitted, memory, cluster)) return
    const agent = this.#returnOf(memory, owner)
    const isDesired = nodeInView(cluster.fleet.view(owner), node)?.desired === true
    if (isStillAway(open, agent) && isDesired) return
    const nodeUid = cluster.nodes.store.get({ namespace: '', name: node })?.uid
    const ended = { agent: { daemonSet, node }, nodeUid, downtimes: downtimeEnded(memory, agent, clock.nowMs()) }
    const written = await downtimes?.write(ended, signal)
    if (written?.kind === 'rejected') throw new Error(`the end of a downtime cannot be written: ${written.message}`)
  }

  #returnOf(memory: NodeDowntime | null, daemonSet: DaemonSet): AgentReturn {
    const { cluster, clock } = this.#parts
    if (memory === null || memory.open === null) return { kind: 'stayed', atMs: null }
    const times = { minReadyMs: minReadyMs(daemonSet), nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
    return agentReturn(nodeInView(cluster.fleet.view(daemonSet), memory.node), memory.open.permitted.permit.podUid, times)
  }

  /**
   * Whether the node has an available pod, by the clock of this process or by what the kubelet says. A pod that flaps is never available. A process
   * that has just started does not know for how long a pod has been Ready.
   */
  #isAgentThere(daemonSet: DaemonSet, node: string): boolean {
    const { cluster, clock } = this.#parts
    const neededMs = minReadyMs(daemonSet)
    const isAvailableByStamp = ({ readyStamp }: FleetPod): boolean => (parseTime(readyStamp) ?? 0) + neededMs <= clock.nowMs()
    const isThere = (pod: FleetPod): boolean =>
      pod.ready && !pod.terminating && (isAvailable(pod, neededMs, clock.monotonicMs()) || isAvailableByStamp(pod))
    return nodeInView(cluster.fleet.view(daemonSet), node)?.pods.some(isThere) === true
  }
}

const READY: NodeCheck = { kind: 'ready', for: 'deletion' }
const READY_FOR_PERMIT: NodeCheck = { kind: 'ready', for: 'permit' }

const NOT_ALLOWED = 'policies may not limit downtime: rbac.downtime of the chart is false'

/** What the policy allows in a day, in milliseconds; null for no limit. */
function allowedMs({ spec }: CheckTarget['release']): number | null {
  const { perDay } = spec.tranche?.downtime ?? {}
  const ms = perDay === undefined ? Number.NaN : durationMs(perDay)
  return ms > 0 ? ms : null
}

function agentOf({ metadata: { namespace = '', name, uid } }: DaemonSet, node: string): NodeAgent {
  return { daemonSet: { namespace, name, uid }, node }
}

function minReadyMs({ spec }: DaemonSet): number {
  return (spec.minReadySeconds ?? 0) * 1000
}

/** When the memory last changed, in epoch milliseconds. */
function lastMs({ past, open }: Downtimes): number {
  return Math.max(...past.map(({ toMs }) => toMs), open?.fromMs ?? Number.NEGATIVE_INFINITY)
}
