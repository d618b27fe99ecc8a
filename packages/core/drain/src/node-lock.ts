import { drainDefaults, type DrainRules, durationMs } from '@tranche/api-schema'
import { type Lease, microTime, MOST_LEASE_TRANSITIONS, NODE_LOCK_ANNOTATION, parseTime, clipText, readJson } from '@tranche/kube-types'
import type { DrainedPermit } from './cordon-mark.ts'

/** How long a lock of a node lasts without a renewal, in seconds. A process that dies keeps other programs from its nodes for this time at most. */
export const NODE_LOCK_SECONDS = 600

/** How long a lock is renewed at most, in milliseconds: a program that repairs nodes must be able to get a node whose new pod never starts. */
export const LONGEST_LOCK_MS = 3_600_000

/**
 * How long a release holds the lock of a node whose pod cannot be deleted, in milliseconds. Then it gives the lock back for a moment. The time is
 * that of a pod that never starts, and the time limit of a drain.
 */
export function longestDeletionMs(drain: DrainRules | undefined): number {
  return LONGEST_LOCK_MS + (drain === undefined ? 0 : durationMs(drain.timeout ?? drainDefaults.timeout))
}

/** Characters of a foreign holder that are kept. */
const MOST_HOLDER = 128

/** The lock of a node: a Lease that programs which take nodes down hold meanwhile. */
export interface NodeLock {
  readonly node: string
  readonly uid: string
  readonly resourceVersion: string
  /** Identity of the holder, bounded; empty where the Lease names no holder. */
  readonly holder: string
  /** BatchRelease that holds it; null for the lock of another program. */
  readonly release: SeenPermit['release'] | null
  /** Permit for which it is held; null where the Lease does not say. */
  readonly permit: (SeenPermit['permit'] & Pick<SeenPermit, 'seenAt'>) | null
  /** When it was last taken and renewed, in epoch milliseconds; null where the Lease does not say. */
  readonly acquiredMs: number | null
  readonly renewedMs: number | null
  /** 0 where the Lease does not say. */
  readonly durationMs: number
  readonly transitions: number
}

/** A permit, and where the process saw it. */
export type SeenPermit = DrainedPermit & {
  /** `resourceVersion` of the BatchRelease in which the process has seen the permit. A process that has not seen it yet knows nothing of the permit. */
  readonly seenAt: string
}

/** Request of a process for the lock of a node. */
export interface LockWanted {
  readonly node: string
  /** UID of the Node, which owns the Lease; undefined for a node that is gone. */
  readonly nodeUid: string | undefined
  readonly locked: SeenPermit
}

/** Name of the Lease of a node, as in the lease library of medik8s. */
export function nodeLockName(node: string): string {
  return `${PREFIX}${node}`
}

/** @returns the lock; null for a Lease with another name than that of the lock of a node */
export function toNodeLock({ metadata, spec = {} }: Lease): NodeLock | null {
  if (!metadata.name.startsWith(PREFIX)) return null
  const { holderIdentity = '', leaseDurationSeconds = 0, acquireTime, renewTime, leaseTransitions = 0 } = spec
  const release = releaseOf(holderIdentity)
  return {
    node: metadata.name.slice(PREFIX.length),
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    holder: clipText(holderIdentity, MOST_HOLDER),
    release,
    permit: release === null ? null : permitOf(metadata.annotations?.[NODE_LOCK_ANNOTATION]),
    acquiredMs: parseTime(acquireTime),
    renewedMs: parseTime(renewTime),
    durationMs: leaseDurationSeconds * 1000,
    transitions: leaseTransitions,
  }
}

/**
 * Whether the lock is held now. As in the library of medik8s, a Lease without a time or duration is free, and so is an expired one. A renewal
 * that lies further in the future than the lock lasts is not believed: it would keep all programs from the node for ever.
 */
export function isHeld({ renewedMs, durationMs }: NodeLock, nowMs: number): boolean {
  return renewedMs !== null && Math.abs(nowMs - renewedMs) <= durationMs && durationMs > 0
}

/** Whether the BatchRelease holds the lock, and has not lost it by the clock. */
export function isLockedBy(lock: NodeLock, release: SeenPermit['release'], nowMs: number): boolean {
  return isHeld(lock, nowMs) && lock.release?.uid === release.uid && lock.release.namespace === release.namespace
}

/** When a held lock is due for a renewal, in epoch milliseconds: after half of its time. Null once it was renewed for long enough. */
export function renewalDueMs({ acquiredMs, renewedMs, durationMs }: NodeLock): number | null {
  if (renewedMs === null || renewedMs - (acquiredMs ?? renewedMs) >= LONGEST_LOCK_MS) return null
  return renewedMs + durationMs / 2
}

/** @returns the text about a node whose lock another holder has: the holder, and the end of its time in ISO 8601 */
export function heldText({ holder, release, renewedMs, durationMs }: NodeLock): string {
  const who = release === null ? (holder === '' ? 'a program without a name' : holder) : `BatchRelease ${release.namespace}/${release.name}`
  const until = new Date((renewedMs ?? 0) + durationMs).toISOString()
  return `${who} holds the Lease of the node until ${until}`
}

/** Body of the request that takes, moves or renews a lock: a new Lease, or a merge patch of the one that was read. */
export interface LockBody {
  readonly metadata: {
    readonly name?: string
    readonly resourceVersion?: string
    readonly annotations: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly object[]
  }
  readonly spec: NonNullable<Lease['spec']>
}

/**
 * @param before the Lease as it was read; null without one
 * @param nowMs epoch milliseconds
 * @returns the body with which the BatchRelease holds the lock for the permit
 */
export function lockBody(before: NodeLock | null, { node, nodeUid, locked }: LockWanted, nowMs: number): LockBody {
  const { release, permit, seenAt } = locked
  const keeps = before !== null && isLockedBy(before, release, nowMs)
  const transitions = before === null ? 0 : Math.min(MOST_LEASE_TRANSITIONS, before.transitions + (keeps ? 0 : 1))
  const { podUid, podResourceVersion } = permit
  return {
    metadata: {
      ...(before === null ? { name: nodeLockName(node) } : { resourceVersion: before.resourceVersion }),
      annotations: { [NODE_LOCK_ANNOTATION]: JSON.stringify({ podUid, podResourceVersion, seenAt }) },
      ...(nodeUid !== undefined && { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid: nodeUid }] }),
    },
    spec: {
      holderIdentity: `${HOLDER}/${release.namespace}/${release.name}/${release.uid}`,
      leaseDurationSeconds: NODE_LOCK_SECONDS,
      acquireTime: microTime(keeps ? (before.acquiredMs ?? nowMs) : nowMs),
      renewTime: microTime(nowMs),
      leaseTransitions: transitions,
    },
  }
}

const PREFIX = 'node-'
const HOLDER = 'tranche'

function releaseOf(holder: string): SeenPermit['release'] | null {
  const [program, namespace = '', name = '', uid = '', ...more] = holder.split('/')
  const isOne = program === HOLDER && namespace !== '' && name !== '' && uid !== '' && more.length === 0
  return isOne ? { namespace, name, uid } : null
}

function permitOf(text: string | undefined): NodeLock['permit'] {
  try {
    const value = readJson(text ?? 'null') as NodeLock['permit']
    const isMark = [value?.podUid, value?.podResourceVersion, value?.seenAt].every((field) => typeof field === 'string')
    return isMark ? value : null
  } catch {
    return null
  }
}

/** When half of the time of a lock is over, in epoch milliseconds: executors renew it then. */
export function halfOverAtMs({ renewedMs, durationMs: lastsMs }: Pick<NodeLock, 'renewedMs' | 'durationMs'>): number {
  return (renewedMs ?? 0) + lastsMs / 2
}
