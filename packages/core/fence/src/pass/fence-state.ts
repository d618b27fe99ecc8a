import type { FlightRecord, Permit } from '@tranche/api-schema'
import { type FleetPod, isAvailable, nodeInView, type NodeView } from '@tranche/fleet'
import { type Availability, permitState, type PermitState } from '../record/permit-state.ts'
import { permitId } from '../record/flight-record.ts'
import { type BatchScope, batchScope, isInScope, scopeInRecord } from '../nodes/batch-scope.ts'
import { type Exemption, exemptNodes, idleNodes, nodesInFlight, takesPlace } from '../nodes/exempt-nodes.ts'
import { hasOldPod, isInReach, type Revisions } from '../nodes/old-nodes.ts'
import { batchPlaces } from './batch-places.ts'
import { type NodeTally, tallyNodes } from './node-tally.ts'
import type { PassView } from './pass-view.ts'
import { isKeptFromPermit, type KnownChecks, type Preparation, wasReady } from '../nodes/node-check.ts'

/** Input of the fence rules, computed once per pass. */
export interface FenceState {
  readonly view: PassView
  readonly record: FlightRecord
  readonly availability: Availability
  readonly revisions: Revisions
  /** Nodes that the record allows. */
  readonly scope: BatchScope
  readonly tally: NodeTally
  /** Dead nodes, which cost no budget up to what the policy exempts (G1). */
  readonly exemption: Exemption
  /** In the order of the record. */
  readonly permits: readonly TrackedPermit[]
  /**
   * Nodes of the steps so far that may have the revision: the record's size, capped by what its partition leaves in our view (G3).
   *
   * @see batchPlaces
   */
  readonly size: number
  /**
   * Nodes that the batch lacks: its size minus the nodes that run, or will come back on, the revision, or have a permit (G3). Exempt nodes
   * are none of these. Negative where pods leaked.
   */
  readonly lack: number
}

/** A permit with its state. */
export interface TrackedPermit {
  readonly permit: Permit
  readonly state: PermitState
  /** Pod of the permit, while it is in our view. */
  readonly pod: FleetPod | undefined
  /** Whether this process has sent the delete and its watch has not shown the outcome yet. */
  readonly isSent: boolean
  readonly unconfirmed?: Unconfirmed
}

/** F6: a change that our view suggests and only a live read can confirm. */
export type Unconfirmed =
  /** Only the clock has made this pod available: the permit stays `flying` until the pod is read. */
  | { readonly kind: 'pod'; readonly pod: FleetPod }
  /** The node is not desired in our view: the permit, though `left`, stays in the record until the node is read. */
  | { readonly kind: 'node' }

/** Computes the fence state of a view. */
export function toFenceState(view: PassView, record: FlightRecord): FenceState {
  const availability: Availability = { minReadyMs: view.published.minReadySeconds * 1000, monotonicMs: view.monotonicMs }
  const tally = tallyNodes(view.fleet, { revision: record.revision, ...availability })
  const permits = record.permits.map((permit): TrackedPermit => {
    const node = nodeInView(view.fleet, permit.node)
    return {
      permit,
      ...stateOf(view, permit, node, availability),
      pod: node?.pods.find((pod) => pod.uid === permit.podUid),
      isSent: view.sent.size > 0 && view.sent.has(permitId(permit)),
    }
  })
  const old = [...permittedNodes(permits)].filter((node) => isOldNode(view, record, node))
  const scope = scopeInRecord(record.scope, view.nodes) ?? batchScope(undefined, null)
  const revisions = {
    canary: record.revision,
    stable: view.published.stableRevision,
    former: view.formerRevisions ?? [],
    begunAt: view.begunAt,
  }
  const { desired, unavailable } = tally
  const inFlight = nodesInFlight(record.permits, view.fleet)
  const exemption = exemptNodes({ unavailable, revisions, inFlight, rules: scope.rules, desired, monotonicMs: view.monotonicMs })
  const idle = idleNodes(unavailable, exemption, revisions).filter((node) => !takesPlace(node, scope, revisions))
  const { size, taken } = batchPlaces({ record, fleet: view.fleet, scope, tally, idle, permitted: old.length })
  return { view, record, availability, revisions, scope, tally, exemption, permits, size, lack: size - taken }
}

/**
 * F6: where only the clock makes a pod available, its permit settles only after a live read; with minReadySeconds 0 the watch
 * event is enough (L10). A node missing from our watch has left only once a live read says so (L11).
 */
function stateOf(
  view: PassView,
  permit: Permit,
  node: NodeView | undefined,
  availability: Availability,
): Pick<TrackedPermit, 'state' | 'unconfirmed'> {
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

/** Whether the node's pod may be taken now: desired, in the batch's scope, and in reach. */
export function isTakeable({ view, scope, revisions }: FenceState, name: string): boolean {
  const node = nodeInView(view.fleet, name)
  return node?.desired === true && isInReach(node, revisions) && isInScope(scope, node)
}

/** Whether the checks of a node do not keep it from a permit. Where the policy asks for it, the node was prepared. */
export function mayGetPermit(fence: FenceState, name: string): boolean {
  if (!asksChecks(fence)) return true
  return !isKeptFromPermit(knownChecks(fence), name) && isPreparedAhead(fence, name)
}

/** Whether the node is prepared as far as the policy asks for it before a permit. */
export function isPreparedAhead(fence: FenceState, name: string): boolean {
  const { preparation, prepared } = fence.view
  if (preparation === undefined || preparation.ahead === 0) return true
  const isReady = prepared?.get(name)?.some(({ state, isAhead, isStale }) => isAhead && state === 'ready' && !isStale)
  return isReady === true || wasReady(knownChecks(fence), name)
}

/** @returns everything that was done on nodes for the release of the view */
export function preparationsIn({ prepared }: PassView): readonly Preparation[] {
  return prepared === undefined ? [] : [...prepared.values()].flat()
}

/** @returns the readings of nodes in a pass */
export function knownChecks({ view, scope }: Pick<FenceState, 'view' | 'scope'>): KnownChecks {
  return { isAsked: asksChecks({ view, scope }), readings: view.checks, monotonicMs: view.monotonicMs }
}

function asksChecks({ view, scope }: Pick<FenceState, 'view' | 'scope'>): boolean {
  return scope.rules.checksRoom || view.preparation !== undefined
}

/** F6: a permit of a node that is no longer desired counts as unsettled until the record changes (L4, L11). */
export function isUnsettled({ state }: TrackedPermit): boolean {
  return state !== 'settled'
}

/** F6: whether the permit may leave the record: it has settled, or a live read confirmed that its node left. */
export function isOver({ state, unconfirmed }: TrackedPermit): boolean {
  return state === 'settled' || (state === 'left' && unconfirmed === undefined)
}

/** Permits that are standing and not sent yet. */
export function standingPermits(fence: FenceState): readonly TrackedPermit[] {
  return fence.permits.filter(({ state, isSent }) => state === 'standing' && !isSent)
}

/** Whether the node is in {@link NodeTally.old}. */
export function isOldNode({ fleet }: PassView, { revision }: FlightRecord, name: string): boolean {
  const node = nodeInView(fleet, name)
  return node?.desired === true && hasOldPod(node, revision)
}

/**
 * Nodes whose old pod has a permit (L16). A permit whose pod is gone does not cover an old pod that came up later, such as one
 * of a superseded revision after a rollover.
 */
export function permittedNodes(permits: readonly TrackedPermit[]): Set<string> {
  return new Set(permits.filter(({ state }) => state !== 'flying').map(({ permit }) => permit.node))
}

/** Whether the pod is terminating or gone, by any client, and the permit has not settled. */
export function isGone({ state }: TrackedPermit): boolean {
  return state === 'flying' || state === 'left'
}
