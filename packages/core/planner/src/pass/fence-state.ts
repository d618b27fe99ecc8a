import type { FlightRecord, Permit } from '@tranche/api-schema'
import { type FleetPod, isAvailable, nodeInView } from '@tranche/fleet'
import { type Availability, permitId, permitState, type PermitState } from '@tranche/flight'
import { type BatchScope, batchScope, isInScope, scopeInRecord } from '../nodes/batch-scope.ts'
import { hasOldPod, isInReach, type Revisions } from '../old-nodes.ts'
import { type NodeTally, tallyNodes } from './node-tally.ts'
import type { PassView } from './pass-view.ts'

/** Everything that the rules look at, worked out once. */
export interface FenceState {
  readonly view: PassView
  readonly record: FlightRecord
  readonly availability: Availability
  readonly revisions: Revisions
  /** Which nodes the record lets be taken. */
  readonly scope: BatchScope
  readonly tally: NodeTally
  /** In the order of the record. */
  readonly permits: readonly TrackedPermit[]
  /** Nodes that the batch may have on the revision: what the record says, and no more than its partition leaves in our view (G3). */
  readonly size: number
  /**
   * What the batch lacks: its size less the nodes that run, or will come back on, the revision, or have a permit (G3).
   * Negative where something leaked.
   */
  readonly lack: number
}

/** A permit with what has become of it. */
export interface TrackedPermit {
  readonly permit: Permit
  readonly state: PermitState
  /** The pod of the permit, while it is in our view. */
  readonly pod: FleetPod | undefined
  /** This process has sent its delete, and its watch has not shown the outcome yet. */
  readonly isSent: boolean
  readonly unconfirmed?: Unconfirmed
}

/** F6: what our view shows of a permit and only a live read can tell. */
export type Unconfirmed =
  /** Only the clock has made this pod available: the permit is `flying` until it was read. */
  | { readonly kind: 'pod'; readonly pod: FleetPod }
  /** The node is not desired in our view: the permit, though `left`, stays in the record until the node was read. */
  | { readonly kind: 'node' }

/** Works out what the rules look at. */
export function toFenceState(view: PassView, record: FlightRecord): FenceState {
  const availability: Availability = { minReadyMs: view.published.minReadySeconds * 1000, monotonicMs: view.monotonicMs }
  const tally = tallyNodes(view.fleet, { revision: record.revision, ...availability })
  const permits = record.permits.map((permit): TrackedPermit => {
    const node = nodeInView(view.fleet, permit.node)
    return {
      permit,
      ...stateOf(view, permit, availability),
      pod: node?.pods.find((pod) => pod.uid === permit.podUid),
      isSent: view.sent.size > 0 && view.sent.has(permitId(permit)),
    }
  })
  const old = [...permittedNodes(permits)].filter((node) => isOldNode(view, record, node))
  const scope = scopeInRecord(record.scope, view.nodes) ?? batchScope(undefined, null)
  const revisions = { canary: record.revision, stable: view.published.stableRevision }
  const taken = tally.onRevision + old.length
  const size = batchSizeOf(record, tally.desired, taken)
  return { view, record, availability, revisions, scope, tally, permits, size, lack: size - taken }
}

/**
 * G3, F3: how many nodes may have the revision. Our own count of desired nodes only ever makes it less: nodes that become
 * desired again would widen a batch otherwise. A record without a size, of a version before there was one, lets no pod be
 * permitted until the controller has written one; what it permits stays.
 *
 * @param desired nodes that are desired in our view
 * @param taken those that run the revision, will come back on it, or have a permit
 */
export function batchSizeOf({ size, partition }: FlightRecord, desired: number, taken: number): number {
  return Math.max(0, Math.min(desired - partition, size ?? taken))
}

/**
 * F6: time passes in a view that stands still, too. Where only the clock makes a pod available, its permit has not settled
 * before a read has said so; with minReadySeconds 0 the watch event itself says it. Nor has a node left because our watch
 * does not show it: it may have joined since, or its taints may be gone.
 */
function stateOf(view: PassView, permit: Permit, availability: Availability): Pick<TrackedPermit, 'state' | 'unconfirmed'> {
  const node = nodeInView(view.fleet, permit.node)
  const state = permitState(permit, node, availability)
  if (state === 'left') return { state, ...(!isConfirmed(view, permit) && { unconfirmed: { kind: 'node' } }) }
  if (state !== 'settled' || availability.minReadyMs === 0) return { state }
  if (isConfirmed(view, permit)) return { state }
  const pod = node?.pods.find((one) => isAvailable(one, availability.minReadyMs, availability.monotonicMs))
  return { state: 'flying', ...(pod !== undefined && { unconfirmed: { kind: 'pod', pod } }) }
}

function isConfirmed({ confirmations }: PassView, permit: Permit): boolean {
  return confirmations.get(permitId(permit))?.kind === 'confirmed'
}

/** A node whose pod may be taken now: desired, of the batch, and in reach. */
export function isTakeable({ view, scope, revisions }: FenceState, name: string): boolean {
  const node = nodeInView(view.fleet, name)
  return node?.desired === true && isInReach(node, revisions) && isInScope(scope, node)
}

/** F6: a permit of a node that is no longer desired counts as unsettled until the record says otherwise. */
export function isUnsettled({ state }: TrackedPermit): boolean {
  return state !== 'settled'
}

/** F6: it may leave the record: it has settled, or a live read has shown that its node has left. */
export function isOver({ state, unconfirmed }: TrackedPermit): boolean {
  return state === 'settled' || (state === 'left' && unconfirmed === undefined)
}

/** Standing, and not sent yet. */
export function standingPermits(fence: FenceState): readonly TrackedPermit[] {
  return fence.permits.filter(({ state, isSent }) => state === 'standing' && !isSent)
}

/** Whether the node is one of {@link NodeTally.old}. */
export function isOldNode({ fleet }: PassView, { revision }: FlightRecord, name: string): boolean {
  const node = nodeInView(fleet, name)
  return node?.desired === true && hasOldPod(node, revision)
}

/**
 * Nodes whose old pod has a permit. A permit whose pod is gone says nothing of an old pod that has come up since: after a
 * rollover, one of a superseded revision.
 */
export function permittedNodes(permits: readonly TrackedPermit[]): Set<string> {
  return new Set(permits.filter(({ state }) => state !== 'flying').map(({ permit }) => permit.node))
}

/** Its pod is terminating or gone, by whomever, and it has not settled. */
export function isGone({ state }: TrackedPermit): boolean {
  return state === 'flying' || state === 'left'
}
