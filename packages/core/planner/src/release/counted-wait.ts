import type { BatchRelease, ReachWaitReason, Waiting } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import { isWayBack } from '@tranche/verdict'
import type { BatchProgress } from './progress/batch-progress.ts'
import { insteadOfAbort } from './progress/instead-of-abort.ts'
import { laterStepInReach } from './progress/later-step.ts'
import { badBeforeText, firstNodes, unwellText } from './progress/unwell-text.ts'

/**
 * The wait that the counts of nodes alone determine, while there is budget left and nothing holds nodes back. It is for updated nodes to
 * become available, for new pods, or for nodes that are to be updated. The controller writes it; views compute it for the nodes of now.
 */
export function countedWait(progress: BatchProgress, release: BatchRelease | undefined, fleet: FleetView): Omit<Waiting, 'since'> {
  const { unwell, between, away, missing, outOfReach } = progress
  if (outOfReach !== undefined) return reachWait(progress, outOfReach, wayOut(fleet, release))
  if (unwell.length > 0) {
    const message = `waiting for updated nodes to become available: ${unwellText(progress)}${longWaitText(progress, release)}`
    return { reason: 'NotAvailable', message, nodes: unwell.map(({ node }) => node) }
  }
  if (between.length > 0) {
    const notReady = away.length > 0 ? `; NotReady: ${firstNodes(away)}` : ''
    const message = `waiting for new pods on ${firstNodes(between)}${notReady}${tooManyDeadText(progress)}`
    return { reason: 'Upgrading', message, nodes: between }
  }
  const message = `${missingNodesText(missing)}${pullsFirst(release)}${tooManyDeadText(progress)}`
  return { reason: 'Upgrading', message, nodes: [] }
}

/** Whether the version of a rollback fails on a node. Nothing stops it, so it may wait for good. */
export function isFailingBack({ unwell }: Pick<BatchProgress, 'unwell'>, release: BatchRelease | undefined): boolean {
  return release !== undefined && isWayBack(release) && unwell.some(({ pod }) => pod.trouble !== undefined)
}

/** Why no deadline ends the wait, and what does. Begins with a semicolon; empty for other waits. */
function longWaitText(progress: BatchProgress, release: BatchRelease | undefined): string {
  const before = badBeforeText(progress, release)
  if (!isFailingBack(progress, release)) return before
  return `${before}; nothing stops a rollback: fix these nodes, undo to another revision, or apply another template`
}

type ReachWait = Omit<Waiting, 'since'> & { readonly reason: ReachWaitReason }

/** No desired node runs the revision, and the batch can take none: says why for which nodes, and what ends that. */
function reachWait({ excluded }: BatchProgress, outOfReach: readonly string[], out: string): ReachWait {
  const away = outOfReach.length === 0 ? [] : [`NotReady, out of service or in maintenance: ${firstNodes(outOfReach)}`]
  const left = excluded.length === 0 ? [] : [`excluded by the policy: ${firstNodes(excluded)}`]
  const back = outOfReach.length === 1 ? `${outOfReach[0]} is back` : 'one of them is back'
  const ends = [...away.map(() => back), ...left.map(() => 'the policy excludes fewer nodes')].join(', or ')
  const isPolicy = outOfReach.length === 0 && excluded.length > 0
  const what = isPolicy
    ? `the policy excludes every node of the batch (${firstNodes(excluded)}), and no desired node runs the revision`
    : `no node of the batch is in reach, and no desired node runs the revision (${[...away, ...left].join('; ')})`
  const message = `${what}; it continues once ${ends}; or ${out}`
  return { reason: isPolicy ? 'NodesExcluded' : 'NoNodeInReach', message, nodes: [...outOfReach, ...excluded] }
}

function wayOut(fleet: FleetView, release: BatchRelease | undefined): string {
  const later = release && laterStepInReach(fleet, release)
  return `${later === undefined ? '' : `jump to step ${later}, or `}abort${insteadOfAbort(release, 'Freeze')}`
}

/** @param nodes number of nodes that the batch still lacks */
export function missingNodesText(nodes: number): string {
  return nodes === 1 ? '1 more node is to be updated' : `${nodes} more nodes are to be updated`
}

/** Dead nodes cost no budget while there are few of them; says when there are more. Begins with a semicolon; empty if there are few. */
export function tooManyDeadText({ exemption: { dead, most } }: Pick<BatchProgress, 'exemption'>): string {
  if (dead.length <= most) return ''
  const nodes = dead.length === 1 ? '1 node is dead and counts' : `${dead.length} nodes are dead, and all of them count`
  return `; ${nodes}, because nodes.notReady.exempt leaves out at most ${most}`
}

/** Images may take minutes to pull, and nothing else shows meanwhile. */
function pullsFirst(release: BatchRelease | undefined): string {
  return release?.spec.tranche?.prePull === undefined
    ? ''
    : '; each node pulls the new images before its pod is deleted (prePull of the policy)'
}
