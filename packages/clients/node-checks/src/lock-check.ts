import { type Clock, durationText } from '@tranche/clock'
import type { NodeLocks, WatchedCluster } from '@tranche/cluster'
import { halfOverAtMs, heldText, isHeld, isLockedBy, longestDeletionMs, type NodeLock, renewalDueMs } from '@tranche/drain'
import type { NodeCheck, Preparation, PreparationRules } from '@tranche/fence'
import type { FleetNode } from '@tranche/fleet'
import { isListedNamespace } from '@tranche/kube-types'
import { actOnEach } from './act-on-each.ts'
import { type AskedDeletions, createAskedDeletions } from './asked-deletions.ts'
import { blocked, type Check, type CheckQuestion, type CheckTarget } from './check.ts'
import { CHANGED_AGAIN_MS, createLeaseAccess, type LeaseAccess } from './lease-access.ts'
import { isPermitOfLockOver, isFor, isLeft } from './locked-permit.ts'
import { permitOn } from './permit-on-node.ts'

/** Dependencies of {@link createLockCheck}. */
export interface LockParts {
  readonly cluster: WatchedCluster
  readonly clock: Clock
  /** Undefined if the installation does not allow locks. */
  readonly locks: NodeLocks | undefined
  /** Namespaces whose policies may lock nodes; `*` for all. */
  readonly trusted: readonly string[]
  /** Namespaces that this process watches; undefined for all. */
  readonly watched: readonly string[] | undefined
}

/** Name of the check in its preparations. */
const LOCK = 'lock'

/** Delay before a node is asked again that another holder keeps, in milliseconds. That costs no request. */
const HELD_AGAIN_MS = 15_000

/** Delay before a node is locked again whose pod could not be deleted, in milliseconds: other programs have the time to take its Lease. */
const REFUSED_AGAIN_MS = 300_000

/** Time for a renewal that is due, in milliseconds. */
const FORGOTTEN_AFTER_MS = 60_000

/**
 * Holds the Lease of a node while its pod is replaced (`downtime.nodeLock` of the policy). Other releases and programs that respect it leave
 * the node alone meanwhile. One request takes it before the pod is deleted, one gives it back; its state comes from a watch.
 */
export function createLockCheck(parts: LockParts): Check {
  return new LockCheck(parts)
}

class LockCheck implements Check {
  readonly name = LOCK
  readonly #parts: LockParts
  readonly #access: LeaseAccess
  readonly #asked: AskedDeletions

  constructor(parts: LockParts) {
    this.#parts = parts
    this.#access = createLeaseAccess(parts.clock, 'NodeLockFailed')
    this.#asked = createAskedDeletions(parts.clock)
  }

  rules({ release }: CheckTarget): PreparationRules | undefined {
    return asksLock(release) ? { ahead: 0 } : undefined
  }

  preparations(target: CheckTarget): readonly Preparation[] {
    const isStale = !asksLock(target.release)
    return this.#heldFor(target).map((lock): Preparation => {
      const done = { node: lock.node, check: LOCK, state: 'begun', isAhead: false, isStale, changesAtMs: null } as const
      return { ...done, isLast: true, renewAtMs: isStale ? null : this.#renewAtMs(lock) }
    })
  }

  async check(target: CheckTarget, { node, purpose }: CheckQuestion, signal: AbortSignal): Promise<NodeCheck | null> {
    const { locks, trusted, clock } = this.#parts
    const { namespace = '', name, uid } = target.release.metadata
    if (!asksLock(target.release) || purpose === 'ahead') return null
    if (locks === undefined || !isListedNamespace(trusted, namespace)) return blocked('NodeLockNotAllowed', untrusted(namespace))
    const unread = this.#access.unread(locks)
    if (unread !== null) return unread
    const lock = locks.get(node)
    const isOfAnother = lock !== null && isHeld(lock, clock.nowMs()) && !isLockedBy(lock, { namespace, name, uid }, clock.nowMs())
    if (isOfAnother && !(await this.#freesLeft(locks, lock, signal)))
      return { ...blocked('NodeLocked', heldText(lock)), againInMs: HELD_AGAIN_MS }
    const failure = this.#access.failureOn(node)
    if (failure !== null) return blocked('NodeLockFailed', failure)
    return purpose === 'deletion' ? this.#take(locks, target, node, signal) : { kind: 'ready', for: 'permit' }
  }

  async undo(target: CheckTarget, node: string, signal: AbortSignal): Promise<void> {
    const lock = this.#heldFor(target).find((one) => one.node === node)
    const isFree = lock !== undefined && (!asksLock(target.release) || isPermitOfLockOver(lock, this.#parts.cluster, target))
    if (!isFree) return
    this.#asked.forget(node)
    await this.#parts.locks?.free(lock, signal)
  }

  async renew(target: CheckTarget, node: string, signal: AbortSignal): Promise<void> {
    const { cluster, locks } = this.#parts
    const lock = this.#heldFor(target).find((one) => one.node === node)
    if (lock === undefined || lock.release === null || lock.permit === null || this.#renewAtMs(lock) === null) return
    const { permit, release } = lock
    const locked = { release, permit, seenAt: permit.seenAt }
    const written = await locks?.write({ node, nodeUid: nodeOf(cluster, node)?.uid, locked }, signal)
    if (written?.kind === 'rejected') throw new Error(`the Lease of the node cannot be renewed: ${written.message}`)
  }

  async sweep(signal: AbortSignal): Promise<void> {
    const { locks } = this.#parts
    const left = (locks?.list() ?? []).filter((lock) => this.#isLeftOver(lock))
    await actOnEach(left, async (lock) => void (await locks?.free(lock, signal)), signal)
  }

  /** Whether its release needs the Lease no more, and cannot give it back itself. */
  #isLeftOver(lock: NodeLock): boolean {
    const { cluster, watched } = this.#parts
    return isLeft(lock, cluster, watched) && (isPermitOfLockOver(lock, cluster) || this.#isForgotten(lock))
  }

  /** A release that was created again need not wait for a sweep. @returns whether the Lease is free now */
  async #freesLeft(locks: NodeLocks, lock: NodeLock, signal: AbortSignal): Promise<boolean> {
    return this.#isLeftOver(lock) && (await locks.free(lock, signal).catch(() => false))
  }

  async #take(locks: NodeLocks, target: CheckTarget, node: string, signal: AbortSignal): Promise<NodeCheck> {
    const { clock, cluster } = this.#parts
    const locked = permitOn(target, node)
    if (locked === null) return { kind: 'pending', againInMs: CHANGED_AGAIN_MS }
    const lock = locks.get(node)
    const isTaken = lock !== null && isLockedBy(lock, locked.release, clock.nowMs()) && isFor(lock, locked)
    const limitMs = longestDeletionMs(target.release.spec.tranche?.drain)
    if (this.#asked.isTooLong(node, locked.permit, limitMs))
      return { ...blocked('DeletionRefused', refusedText(limitMs)), againInMs: REFUSED_AGAIN_MS }
    if (isTaken && !this.#isDue(lock)) return { kind: 'ready', for: 'deletion' }
    const written = await locks.write({ node, nodeUid: nodeOf(cluster, node)?.uid, locked }, signal)
    if (written.kind === 'changed') return { kind: 'pending', againInMs: CHANGED_AGAIN_MS }
    if (written.kind === 'done') return { kind: 'ready', for: 'deletion' }
    const message = `the Lease of the node cannot be written in namespace ${locks.namespace}: ${written.message}`
    this.#access.failed(node, message)
    return blocked('NodeLockFailed', message)
  }

  /** Its time must last until the deletion is sent, whatever the limit of renewals says. */
  #isDue(lock: NodeLock): boolean {
    return this.#parts.clock.nowMs() >= halfOverAtMs(lock)
  }

  /** Whether each executor that may still need it would have renewed it: the watch of this process may not show yet what a release controls. */
  #isForgotten(lock: NodeLock): boolean {
    return this.#parts.clock.nowMs() >= halfOverAtMs(lock) + FORGOTTEN_AFTER_MS
  }

  #renewAtMs(lock: NodeLock): number | null {
    const { clock, cluster } = this.#parts
    const isReady = nodeOf(cluster, lock.node)?.ready === true
    const dueMs = isReady && isHeld(lock, clock.nowMs()) ? renewalDueMs(lock) : null
    return dueMs === null ? null : clock.monotonicMs() + dueMs - clock.nowMs()
  }

  #heldFor({ release }: CheckTarget): readonly NodeLock[] {
    const { namespace, uid } = release.metadata
    return (this.#parts.locks?.list(uid) ?? []).filter((lock) => lock.release?.namespace === namespace)
  }
}

function nodeOf({ nodes }: WatchedCluster, name: string): FleetNode | undefined {
  return nodes.store.get({ namespace: '', name })
}

function refusedText(limitMs: number): string {
  return `its pod was not deleted within ${durationText(limitMs)} of taking the Lease of the node, which is given back for now`
}

function untrusted(namespace: string): string {
  return `policies of namespace ${namespace} may not lock nodes: rbac.nodeLocks.namespaces of the chart does not list it`
}

/** A rule of a newer version, which this one does not know, takes the Lease. */
function asksLock({ spec }: CheckTarget['release']): boolean {
  const { nodeLock = 'Ignore' } = spec.tranche?.downtime ?? {}
  return nodeLock !== 'Ignore'
}
