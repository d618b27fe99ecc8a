import { type BatchReleaseSpec, LEFT_NODES_MAX, type LeftAtEnd, type Rollout } from '@tranche/api-schema'
import { hasOldPod } from '@tranche/fence'
import { availableFromMs, type FleetView, nodeInView, type NodeView } from '@tranche/fleet'
import { failureDefaults, knownFailure } from '@tranche/verdict'
import { policyTerms } from '../view/release-policy.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Whether the release, or the last one, rolls a version back. Nothing stops that: the nodes that it leaves run a worse version. */
export function isRollback({ status }: Rollout): boolean {
  return status?.rollbackFrom !== undefined
}

/**
 * Nodes left of a release of the stable revision that rolls nothing back: its Rollout was disabled meanwhile, or its BatchRelease deleted. A
 * node on which the revision is not Ready as this release starts is judged, too: the version may have failed there before.
 *
 * @param releaseName `spec.tranche.release` of the release
 */
export function leftSoFar(view: RolloutView, releaseName: string): LeftAtEnd {
  const { rollout, release, fleet } = view
  const canaryRevision = rollout.status?.canaryStatus?.canaryRevision
  if (release?.spec.tranche?.release === releaseName) return leftAtEnd(view, release.spec)
  const isUnwell = ({ pods }: NodeView): boolean => pods.some(({ hash, ready }) => hash === canaryRevision && !ready)
  const judged = fleet.nodes.filter((node) => isUnwell(node) || (node.desiredOnReturn === true && !hasRun(node, canaryRevision)))
  return leftAtEnd(view, { tranche: { canaryRevision, left: { nodes: judged.map(({ name }) => name) } } })
}

/**
 * Nodes that have not run the revision when its release ends, in the order of their names. A node with an old pod now had one then. It is
 * added where the list lacks it, because a watch was behind or another client changed the list. A node that has proved the revision leaves
 * the list. Of more nodes than the list holds, every node counts until few enough are unproven.
 */
export function leftAtEnd(view: RolloutView, { tranche }: Pick<BatchReleaseSpec, 'tranche'>): LeftAtEnd {
  const { fleet, release } = view
  const { left, canaryRevision = '' } = tranche ?? {}
  // A node that was lost in mid-update has an unsettled permit, and no pod that its kubelet has acknowledged.
  const taken = new Set(left === undefined ? release?.status?.flight?.permits.map(({ node }) => node) : [])
  // A node that is down without an old pod returns with a pod of the revision. Whether that one fails says something about the revision.
  const isAway = ({ name, desiredOnReturn }: NodeView): boolean => taken.has(name) || (left === undefined && desiredOnReturn === true)
  const due = fleet.nodes.filter((node) => hasOldPod(node, canaryRevision) || (isAway(node) && !hasRun(node, canaryRevision)))
  const judged = left === undefined ? [] : (left.nodes ?? everyNode(fleet))
  const proof = proofOf(view, canaryRevision)
  const nodes = [...new Set([...judged, ...due.map(({ name }) => name)])].filter((name) => !isProved(view, proof, name))
  return nodes.length > LEFT_NODES_MAX ? {} : { nodes: nodes.toSorted() }
}

/** @returns milliseconds until the next node of the list leaves it by the clock alone; null while none does */
export function untilNextProofMs(view: RolloutView): number | null {
  const { release, fleet, monotonicMs } = view
  const { left, canaryRevision = '' } = release?.spec.tranche ?? {}
  if (left === undefined) return null
  const proof = proofOf(view, canaryRevision)
  const times = (left.nodes ?? everyNode(fleet)).flatMap((name) => provedFromMs(view, proof, name) ?? [])
  const later = times.filter((ms) => ms > monotonicMs)
  return later.length === 0 ? null : Math.min(...later) - monotonicMs
}

function everyNode({ nodes }: FleetView): readonly string[] {
  return nodes.filter(({ desired, desiredOnReturn }) => desired || desiredOnReturn === true).map(({ name }) => name)
}

/** Terms for the proof that a revision works on a node. */
interface Proof {
  readonly revision: string
  /** Milliseconds for which its pod must have been Ready without a break. */
  readonly readyMs: number
  /** Nodes on which the revision has failed: they count as failed, even if they are available again. */
  readonly failed: ReadonlySet<string>
}

function proofOf(view: RolloutView, revision: string): Proof {
  const { failure, finalSettleSeconds = 0 } = policyTerms(view)
  const { progressDeadlineSeconds = failureDefaults.progressDeadlineSeconds } = failure ?? {}
  const { minReadySeconds = 0 } = view.daemonSet?.spec ?? {}
  const readyMs = (minReadySeconds + Math.max(progressDeadlineSeconds, finalSettleSeconds)) * 1000
  const known = view.release === undefined ? undefined : knownFailure(view.release)
  return { revision, readyMs, failed: new Set(known?.nodes) }
}

function isProved(view: RolloutView, proof: Proof, name: string): boolean {
  const fromMs = provedFromMs(view, proof, name)
  return fromMs !== null && fromMs <= view.monotonicMs
}

/**
 * @returns monotonic milliseconds from which the node needs no more proof if its pod stays Ready; null where it is not Ready, or has failed
 */
function provedFromMs({ fleet }: RolloutView, { revision, readyMs, failed }: Proof, name: string): number | null {
  const node = nodeInView(fleet, name)
  if (node === undefined || !node.ready || failed.has(name) || hasOldPod(node, revision)) return null
  const pod = node.pods.find(({ hash, terminating }) => hash === revision && !terminating)
  return pod === undefined ? null : availableFromMs(pod, readyMs)
}

function hasRun({ pods }: NodeView, revision: string | undefined): boolean {
  return pods.some(({ hash, acknowledged }) => hash === revision && acknowledged)
}
