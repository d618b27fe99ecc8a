import { type BlockedNode, underWayReasons } from '@tranche/api-schema'
import { checkWords } from '../nodes/node-check.ts'
import { compareText } from '../nodes/node-scope.ts'
import { type FenceState, isOldNode, knownChecks, permittedNodes } from './fence-state.ts'

/** Maximum number of nodes in the record's list of blocked nodes. */
export const BLOCKED_LISTED = 10

/**
 * The record's list of blocked nodes, as it should be: by name, the first {@link BLOCKED_LISTED}. A node leaves the list only with a permit,
 * or once it is not old. A reading that found it ready is not enough: two processes that read at different times would undo each other's
 * writes.
 *
 * Nodes on which work is under way are listed too, with a permit or without, until that work is over. Each reading puts its node there at most
 * once.
 *
 * @param taken nodes that get a permit in the same write
 */
export function blockedNodes(fence: FenceState, taken: readonly string[]): readonly BlockedNode[] {
  const { view, record, permits } = fence
  if (!knownChecks(fence).isAsked) return []
  const permitted = permittedNodes(permits)
  const known = (record.blocked ?? []).filter((entry) => !isUnderWay(entry) || !isOver(fence, entry, permitted))
  const listed = new Set(known.map(({ node }) => node))
  const read = [...view.checks].flatMap(([node, { check, isNews }]) => {
    const words = checkWords(check)
    const isListed = check.kind === 'blocked' ? !permitted.has(node) : isNews || listed.has(node)
    return words === null || !isListed ? [] : [{ node, reason: words.reason, message: words.message }]
  })
  return [...new Map([...known, ...read].map((entry) => [entry.node, entry])).values()]
    .filter((entry) => isUnderWay(entry) || !permitted.has(entry.node))
    .filter(({ node }) => !taken.includes(node) && isOldNode(view, record, node))
    .toSorted((a, b) => compareText(a.node, b.node))
    .slice(0, BLOCKED_LISTED)
}

/**
 * Whether work on a node is over as far as this process knows. Other processes may work on a node with a permit. A node that is prepared is
 * checked for its permit first: one write then has the permit too.
 */
function isOver({ view }: FenceState, { node }: BlockedNode, permitted: ReadonlySet<string>): boolean {
  const check = view.checks.get(node)?.check
  if (check?.kind === 'ready') return true
  const isPrepared = (view.prepared?.get(node) ?? []).length > 0
  return !isPrepared && check?.kind !== 'pending' && !permitted.has(node)
}

function isUnderWay({ reason }: BlockedNode): boolean {
  return underWayReasons.some((one) => one === reason)
}

/** Whether the record's list is up to date: the same nodes, with the words of readings that are news. */
export function isUpToDate({ record: { blocked = [] }, view }: FenceState, list: readonly BlockedNode[]): boolean {
  const isSame = ({ node, reason, message }: BlockedNode, at: number): boolean => {
    const known = blocked[at]
    if (node !== known?.node) return false
    return (reason === known.reason && message === known.message) || view.checks.get(node)?.isNews !== true
  }
  return list.length === blocked.length && list.every(isSame)
}
