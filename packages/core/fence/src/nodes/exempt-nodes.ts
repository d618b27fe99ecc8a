import type { NodeView } from '@tranche/fleet'
import { scaleIntOrPercent } from '@tranche/kube-types'
import type { NodeScope } from './node-scope.ts'
import { hasSupersededPod, isInReach, isOld, isSuperseded, type Revisions } from './old-nodes.ts'

/** The dead nodes of a view, and whether they are exempt from the budget. */
export interface Exemption {
  /** Names of the dead nodes, in the order of the view. */
  readonly dead: readonly string[]
  /** Maximum number of dead nodes that are exempt (≥ 0). */
  readonly most: number
  /** Names of the exempt nodes: all dead ones, or none where there are more than `most`. */
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
  /** Names of nodes with a permit in the record: Tranche may have deleted their pods. */
  readonly permitted: ReadonlySet<string>
  readonly rules: Pick<NodeScope, 'exempt' | 'deadAfterMs'>
  /** Number of desired nodes, which a percentage refers to; rounded up. */
  readonly desired: number
  /** Now, on the monotonic clock that stamped the nodes. */
  readonly monotonicMs: number
}

/**
 * G1: dead nodes cost no budget, up to the number that the policy exempts. Where more are dead, all of them count: they may have failed
 * for one common reason, and the release should not add to them (L28).
 */
export function exemptNodes(question: ExemptionQuestion): Exemption {
  const { unavailable, revisions, rules, desired, monotonicMs } = question
  const most = Math.max(0, scaleIntOrPercent(rules.exempt, desired) ?? 0)
  const dead: string[] = []
  const suspect: string[] = []
  let nextAtMs: number | null = null
  for (const node of unavailable) {
    if (isSuspect(node, revisions)) suspect.push(node.name)
    const fromMs = deadFromMs(node, question)
    if (fromMs === null) continue
    if (fromMs <= monotonicMs) dead.push(node.name)
    else nextAtMs = Math.min(fromMs, nextAtMs ?? fromMs)
  }
  return { dead, most, names: new Set(dead.length > most ? [] : dead), suspect, nextAtMs }
}

function isSuspect(node: NodeView, revisions: Revisions): boolean {
  return !isInReach(node, revisions) && hasSupersededPod(node, revisions)
}

/**
 * Since when (monotonic) a node without an available pod is dead. A release has not reached it: see {@link isUntouched}. It is dead at once
 * where its kubelet does not answer or it is in maintenance, and after `deadAfterMs` where its kubelet reports it NotReady.
 *
 * @returns null for a node that is not dead, and will not be by the clock alone
 */
function deadFromMs(node: NodeView, question: ExemptionQuestion): number | null {
  if (!isUntouched(node, question)) return null
  if (!node.answers || node.maintenance !== undefined) return Number.NEGATIVE_INFINITY
  const fromMs = (node.notReadyFromMs ?? Number.POSITIVE_INFINITY) + question.rules.deadAfterMs
  return Number.isFinite(fromMs) ? fromMs : null
}

/**
 * Whether no release took the node down: its pods are of revisions from before, none of a superseded one, and one of them is standing. Where
 * all are terminating, another client has deleted them, as a native update does: the node has no permit.
 */
function isUntouched({ name, pods }: NodeView, { revisions, permitted }: ExemptionQuestion): boolean {
  const standing = pods.filter(({ terminating }) => !terminating)
  if (standing.some((pod) => isSuperseded(pod, revisions))) return false
  if (standing.length > 0) return standing.some((pod) => isOld(pod, revisions.canary))
  return pods.length > 0 && !permitted.has(name) && pods.every((pod) => pod.hash !== revisions.canary && !isSuperseded(pod, revisions))
}
