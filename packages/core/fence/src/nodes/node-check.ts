import type { BlockedReason, Permit } from '@tranche/api-schema'
import { permitId } from '../record/flight-record.ts'

/**
 * Question that a check of a node answers, from the weakest to the strongest. `ahead`: is the node prepared before it gets a permit? `permit`:
 * may it get one? `deletion`: may the pod of its permit be deleted?
 */
export type CheckPurpose = 'ahead' | 'permit' | 'deletion'

/** Answer of the checks of one node. A check only forbids: no guarantee of the fence depends on it. */
export type NodeCheck =
  /** Nothing keeps the pod on its node. `for`: strongest purpose for which that is known. */
  | { readonly kind: 'ready'; readonly for: CheckPurpose }
  /**
   * Something was begun on the node. It is asked again after `againInMs`, or when a watch shows a change of it. `waits`: what it waits for, if
   * that takes long.
   */
  | { readonly kind: 'pending'; readonly againInMs: number; readonly waits?: NodeWords }
  /**
   * The pod stays. `message` says what is lacking or failed. It is asked again after `againInMs`; without it, after a
   * time that grows.
   */
  | { readonly kind: 'blocked'; readonly reason: BlockedReason; readonly message: string; readonly againInMs?: number }

/** Why a pod stays on its node, for people. */
export interface NodeWords {
  readonly reason: BlockedReason
  readonly message: string
}

/** Work that takes shorter is not written to the record, in milliseconds: each write costs a request. */
export const SHORT_WORK_MS = 5_000

/** @returns why the pod stays; null if nothing keeps it, or nothing that takes long */
export function checkWords(check: NodeCheck): NodeWords | null {
  if (check.kind === 'ready') return null
  return check.kind === 'blocked' ? check : (check.waits ?? null)
}

/** A node, and the permit whose pod is to be deleted there; undefined for another purpose than `deletion`. */
export interface NodeQuestion {
  readonly node: string
  readonly permit?: Permit | undefined
}

/** Answer for one node, as this process got it. */
export interface NodeReading {
  readonly check: NodeCheck
  readonly purpose: CheckPurpose
  /**
   * Id of the permit for which the node was asked, for the purpose `deletion`. Work on the node for one permit may be undone before the next
   * one comes, also by another process. Undefined: nothing was done for a permit, and the answer counts for any.
   */
  readonly permitId?: string | undefined
  /** Monotonic time of the answer. */
  readonly readAtMs: number
  /** Monotonic time from which a node that is not ready is asked again. */
  readonly againAtMs: number
  /** Whether its words are not in the record yet, as far as this process knows. Each reading changes the words at most once. */
  readonly isNews: boolean
}

/** Age up to which a reading decides on a deletion, in milliseconds: other pods come and go on the node. */
export const CHECK_CURRENT_MS = 10_000

/** Age up to which a reading decides on a permit, in milliseconds. The node is checked again before its pod is deleted. */
const CHECK_RECENT_MS = 60_000

/** Something that a check did on a node for a release, as the watches of this process show it. */
export interface Preparation {
  readonly node: string
  /** Name of the check that did it. */
  readonly check: string
  /** `begun` is not finished; `failed` stays so until it is undone and begun again. */
  readonly state: 'begun' | 'ready' | 'failed'
  /** Whether it may be there before the node has a permit. */
  readonly isAhead: boolean
  /** Whether it is for another revision, or for a policy that no longer asks for it. */
  readonly isStale: boolean
  /** Monotonic time at which the clock alone changes the state; null if it does not. */
  readonly changesAtMs: number | null
  /** Monotonic time from which it must be renewed while the permit of its node is unsettled. @default never */
  readonly renewAtMs?: number | null
  /** What it waits for while it is `begun`, and the monotonic time from which that takes long. @default nothing */
  readonly waits?: NodeWords & { readonly fromMs: number }
  /** Whether it is undone only once nothing else is left on the node. @default false */
  readonly isLast?: boolean
}

/** Identifies what one check did on one node. */
export function preparationId({ node, check }: Pick<Preparation, 'node' | 'check'>): string {
  return `${check}/${node}`
}

/** By node name. */
export type Preparations = ReadonlyMap<string, readonly Preparation[]>

/** What the policy asks to be done on nodes before their pods are deleted, beside a check of their room. */
export interface PreparationRules {
  /** Maximum number of nodes without a permit that are prepared at a time. 0: a node is prepared once its permit may be used. */
  readonly ahead: number
}

/** Readings of nodes, and whether the policy asks for any check. */
export interface KnownChecks {
  readonly isAsked: boolean
  /** By node name. */
  readonly readings: ReadonlyMap<string, NodeReading>
  readonly monotonicMs: number
}

/**
 * Whether a node may get no permit for now: it was not ready when it was last checked, and is not yet due to be checked again. Work for an earlier
 * permit is over with that permit.
 */
export function isKeptFromPermit({ isAsked, readings, monotonicMs }: KnownChecks, node: string): boolean {
  const reading = isAsked ? readings.get(node) : undefined
  if (reading === undefined || (reading.check.kind === 'pending' && reading.permitId !== undefined)) return false
  return reading.check.kind !== 'ready' && monotonicMs < reading.againAtMs
}

/** Whether a check blocks the node, and is not due to be asked again. */
export function isBlockedUntilDue({ readings, monotonicMs }: KnownChecks, node: string): boolean {
  const reading = readings.get(node)
  return reading?.check.kind === 'blocked' && monotonicMs < reading.againAtMs
}

/** Whether a current reading blocks the node of a permit; such a permit is withdrawn (F7). */
export function isBlockedNow({ isAsked, readings, monotonicMs }: KnownChecks, node: string): boolean {
  const reading = isAsked ? readings.get(node) : undefined
  return reading?.check.kind === 'blocked' && monotonicMs - reading.readAtMs < CHECK_CURRENT_MS
}

/** Whether the pod of a permit may be deleted as far as the checks of its node are concerned. */
export function isReadyNow({ isAsked, readings, monotonicMs }: KnownChecks, permit: Permit): boolean {
  if (!isAsked) return true
  const reading = readings.get(permit.node)
  if (reading?.check.kind !== 'ready' || reading.check.for !== 'deletion') return false
  if (reading.permitId !== undefined && reading.permitId !== permitId(permit)) return false
  return monotonicMs - reading.readAtMs < CHECK_CURRENT_MS
}

/** Whether the checks of a node have begun something for the deletion of the permit's pod, and are not due to be asked again. */
export function isAskedAlready({ readings, monotonicMs }: KnownChecks, permit: Permit): boolean {
  const reading = readings.get(permit.node)
  if (reading?.check.kind !== 'pending' || (reading.permitId !== undefined && reading.permitId !== permitId(permit))) return false
  return monotonicMs < reading.againAtMs
}

/** Whether a node must be checked before it gets a permit. */
export function isUnknownForPermit({ isAsked, readings, monotonicMs }: KnownChecks, node: string): boolean {
  if (!isAsked) return false
  const reading = readings.get(node)
  if (reading?.check.kind !== 'ready' || reading.check.for === 'ahead') return true
  return monotonicMs - reading.readAtMs >= CHECK_RECENT_MS
}

/** Whether the answer for a node is so old that it soon decides on no permit. */
export function isAgeing({ readings, monotonicMs }: KnownChecks, node: string): boolean {
  const reading = readings.get(node)
  return reading !== undefined && monotonicMs - reading.readAtMs >= CHECK_RECENT_MS / 2
}

/** Whether the last check of a node found nothing that keeps its pod, a short time ago. */
export function wasReady({ readings, monotonicMs }: KnownChecks, node: string): boolean {
  const reading = readings.get(node)
  return reading?.check.kind === 'ready' && monotonicMs - reading.readAtMs < CHECK_RECENT_MS
}
