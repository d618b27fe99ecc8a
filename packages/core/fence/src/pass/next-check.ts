import type { Preparation } from '../nodes/node-check.ts'
import { type FenceState, isOldNode, knownChecks, permittedNodes, preparationsIn } from './fence-state.ts'
import { nodesBehindHead } from './nodes-behind-head.ts'
import { brokenInFlight } from './nodes-to-take-again.ts'
import { nodesBehindSpread } from './spread-holds.ts'

/**
 * First time (monotonic) at which a node is due to be checked again, or at which the clock changes what was done on a node. Null without one,
 * or where neither a batch needs these nodes nor a permit waits for them. A node that is due has a permit that is not executable, which no clock changes.
 */
export function nextCheckMs(fence: FenceState): number | null {
  const { view, record, lack, permits } = fence
  const { isAsked, monotonicMs } = knownChecks(fence)
  if (!isAsked) return null
  const permitted = permittedNodes(permits)
  const waitedFor = lack > 0 ? new Set<string>() : nodesWaitedFor(fence)
  const isWanted = (node: string): boolean => (lack > 0 || waitedFor.has(node)) && isOldNode(view, record, node)
  const matters = (node: string): boolean => isWanted(node) || (permitted.has(node) && isOldNode(view, record, node))
  const again = [...view.checks].flatMap(([node, { check, againAtMs }]) => {
    const isDue = check.kind === 'pending' ? matters(node) : check.kind === 'blocked' && isWanted(node)
    return isDue ? [againAtMs] : []
  })
  // A preparation that was begun on any node may take the place of one that is waited for.
  const takesPlace = ({ state, isAhead }: Preparation): boolean => waitedFor.size > 0 && isAhead && state === 'begun'
  const changes = preparationsIn(view).flatMap((done) =>
    matters(done.node) || takesPlace(done) ? [done.changesAtMs, done.waits?.fromMs ?? null].filter((atMs) => atMs !== null) : [],
  )
  const times = [...again, ...changes].filter((atMs) => atMs > monotonicMs)
  return times.length === 0 ? null : Math.min(...times)
}

/** Nodes for which standing permits make way once their checks let them: the batch lacks no node, and yet waits for these. */
function nodesWaitedFor(fence: FenceState): ReadonlySet<string> {
  const nodes = [...nodesBehindHead(fence), ...nodesBehindSpread(fence), ...(brokenInFlight(fence) ?? [])]
  return new Set(nodes.map(({ name }) => name))
}
