import type { NodeBudgetReason, Permit } from '@tranche/api-schema'
import { type FleetView, nodeInView, type NodeView } from '@tranche/fleet'
import { scaleIntOrPercent } from '@tranche/kube-types'
import { type BatchScope, isInSteps } from './batch-scope.ts'
import type { NodeScope } from './node-scope.ts'
import { hasOldPod, hasSupersededPod, isInReach, isProven, isSuperseded, type Revisions, wasMoved } from './old-nodes.ts'

/** The dead nodes of a view, and whether they are exempt from the budget. */
export interface Exemption {
  /** Names of the dead nodes, in the order of the view; with those in flight only where there are more than `most` with them. */
  readonly dead: readonly string[]
  /** Maximum number of dead nodes that are exempt (≥ 0). */
  readonly most: number
  /** Names of the exempt nodes: all of `dead`, or none where there are more than `most`. */
  readonly names: ReadonlySet<string>
  /** Names of nodes out of reach that count because of their superseded revision, which may have taken them down. */
  readonly suspect: readonly string[]
  /** Next moment (monotonic) at which another node counts as dead by the clock alone; null when none will. */
  readonly nextAtMs: number | null
}

/** Input of {@link exemptNodes}. */
export interface ExemptionQuestion {
  /** Desired nodes without an available pod. */
  readonly unavailable: readonly NodeView[]
  readonly revisions: Revisions
  /** Names of nodes with a permit whose pod is terminating or gone. */
  readonly inFlight: ReadonlySet<string>
  readonly rules: Pick<NodeScope, 'exempt' | 'deadAfterMs'>
  /** Number of desired nodes, which a percentage refers to; rounded up. */
  readonly desired: number
  /** Now, on the monotonic clock that stamped the nodes. */
  readonly monotonicMs: number
}

/**
 * G1: dead nodes cost no budget, up to the number that the policy exempts. Where more are dead, all of them count: they may have failed
 * for one common reason, and the release should not add to them (L28). A node in flight is never exempt. It is one of the dead ones if an
 * earlier release took it down: see {@link isOfEarlierRelease}.
 */
export function exemptNodes(question: ExemptionQuestion): Exemption {
  const { unavailable, revisions, inFlight, rules, desired, monotonicMs } = question
  const most = Math.max(0, scaleIntOrPercent(rules.exempt, desired) ?? 0)
  const lost: string[] = []
  const suspect: string[] = []
  let nextAtMs: number | null = null
  for (const node of unavailable) {
    if (isSuspect(node, revisions)) suspect.push(node.name)
    const fromMs = deadFromMs(node, question)
    if (fromMs === null) continue
    if (fromMs <= monotonicMs) lost.push(node.name)
    else nextAtMs = Math.min(fromMs, nextAtMs ?? fromMs)
  }
  const isTooMany = lost.length > most
  const dead = isTooMany ? lost : lost.filter((name) => !inFlight.has(name))
  return { dead, most, names: new Set(isTooMany ? [] : dead), suspect, nextAtMs }
}

function isSuspect(node: NodeView, revisions: Revisions): boolean {
  return !isInReach(node, revisions) && hasSupersededPod(node, revisions)
}

/**
 * Since when (monotonic) a node without an available pod is dead. This release did not take it down: see {@link isUntouched}. It is dead at
 * once where its kubelet does not answer or it is in maintenance, and after `deadAfterMs` where its kubelet reports it NotReady.
 *
 * @returns null for a node that is not dead, and will not be by the clock alone
 */
function deadFromMs(node: NodeView, question: ExemptionQuestion): number | null {
  if (!isUntouched(node, question) && !isOfEarlierRelease(node, question)) return null
  if (!node.answers || node.maintenance !== undefined) return Number.NEGATIVE_INFINITY
  const fromMs = (node.notReadyFromMs ?? Number.POSITIVE_INFINITY) + question.rules.deadAfterMs
  return Number.isFinite(fromMs) ? fromMs : null
}

/**
 * Whether no release took the node down: it is not in flight, one of its pods is of a revision that was stable, and none is of a superseded
 * one. Where all of them are terminating, another client has deleted them, as a native update does. They are of such revisions then.
 */
function isUntouched(node: NodeView, { revisions, inFlight }: ExemptionQuestion): boolean {
  const { name, pods } = node
  if (inFlight.has(name)) return false
  if (pods.every(({ terminating }) => terminating)) return pods.length > 0 && pods.every((pod) => isProven(pod, revisions))
  return runsProven(node, revisions)
}

/**
 * Whether the permit of a node in flight is of an earlier release: the pod that came up is old by now, and of a revision that was stable.
 * The pod may have been available before the node was lost, while no executor had a reason to write the record.
 */
function isOfEarlierRelease(node: NodeView, { revisions, inFlight }: ExemptionQuestion): boolean {
  return inFlight.has(node.name) && hasOldPod(node, revisions.canary) && runsProven(node, revisions)
}

/** Whether a standing pod is of a revision that was stable, and none is of a superseded one. */
function runsProven({ pods }: NodeView, revisions: Revisions): boolean {
  const standing = pods.filter(({ terminating }) => !terminating)
  return standing.some((pod) => isProven(pod, revisions)) && !standing.some((pod) => isSuperseded(pod, revisions))
}

/**
 * Why a node without an available pod that is NotReady or in maintenance costs budget, or costs none. @see exemptNodes
 *
 * @param exemption the answer to the same question
 */
export function budgetReasonOf(node: NodeView, question: ExemptionQuestion, { dead, names }: Exemption): NodeBudgetReason {
  if (names.has(node.name)) return 'Exempt'
  if (dead.includes(node.name)) return 'TooManyDead'
  if (question.inFlight.has(node.name)) return 'InFlight'
  if (node.pods.length === 0) return 'NoPod'
  if (isUntouched(node, question)) return 'NotDeadYet'
  const standing = node.pods.filter(({ terminating }) => !terminating)
  const shown = standing.length === 0 ? node.pods : standing
  return shown.some((pod) => isSuperseded(pod, question.revisions)) ? 'NeverStable' : 'Updated'
}

/** @returns the exempt ones of these nodes without an old pod: they run nothing */
export function idleNodes(nodes: readonly NodeView[], { names }: Exemption, { canary }: Revisions): readonly NodeView[] {
  return names.size === 0 ? [] : nodes.filter((node) => names.has(node.name) && !hasOldPod(node, canary))
}

/**
 * G3: an idle node takes no place in a batch. It does if this release moved it to the revision before it died, or else a step that waits for
 * a person would continue with another node.
 */
export function takesPlace(node: NodeView, scope: BatchScope, revisions: Revisions): boolean {
  return !isInSteps(scope, node) || wasMoved(node, revisions)
}

/** @returns names of the nodes with a permit whose pod is terminating or gone */
export function nodesInFlight(permits: readonly Permit[], fleet: FleetView): ReadonlySet<string> {
  const stands = ({ node, podUid }: Permit): boolean =>
    nodeInView(fleet, node)?.pods.some(({ uid, terminating }) => uid === podUid && !terminating) === true
  return new Set(permits.filter((permit) => !stands(permit)).map(({ node }) => node))
}
