import type { NodeView } from '@tranche/fleet'
import { isKeptFromPermit, isUnknownForPermit } from '../nodes/node-check.ts'
import { executablePermits } from './executable-permits.ts'
import { type FenceState, knownChecks, mayGetPermit, permittedNodes, standingPermits, type TrackedPermit } from './fence-state.ts'
import { nodesBehindHead } from './nodes-behind-head.ts'
import { wouldGoOn } from './spread-holds.ts'

/** Permits that make way for a node, and nodes that are to be checked before any does; one of both is empty. */
export interface WayForNode {
  readonly withdrawn: readonly TrackedPermit[]
  readonly unknown: readonly string[]
}

/**
 * F7: the first standing permit, where nothing may be executed: it waits because of U, and a broken old pod that may be taken has no permit
 * before it. It stays until such a node is known to be ready: a blocked one would get no permit, and the first would come back. See L18.
 */
export function headThatGivesWay(fence: FenceState): WayForNode {
  const standing = standingPermits(fence)
  const head = standing.slice(0, 1)
  const next = head.length === 0 || executablePermits(fence).length > 0 ? [] : nodesThatMayGo(fence)
  if (next.length === 0 || !(wouldGoOn(fence, head) || wouldGoOn(fence, standing))) return { withdrawn: [], unknown: [] }
  const unknown = next.filter((name) => isUnknownForPermit(knownChecks(fence), name))
  return unknown.length < next.length ? { withdrawn: head, unknown: [] } : { withdrawn: [], unknown }
}

/** Nodes behind the first permit that may get one, or have one that may be used. Its check for the deletion prepares a node with a permit. */
function nodesThatMayGo(fence: FenceState): readonly string[] {
  const permitted = permittedNodes(fence.permits)
  const mayBeUsed = (name: string): boolean => permitted.has(name) && !isKeptFromPermit(knownChecks(fence), name)
  return nodesBehindHead(fence).flatMap(({ name }) => (mayBeUsed(name) || mayGetPermit(fence, name) ? [name] : []))
}

/** F7: standing permits of nodes other than those to delete on again. See L19. */
export function permitsInTheWay(fence: FenceState, again: readonly NodeView[]): readonly TrackedPermit[] {
  const names = new Set(again.map(({ name }) => name))
  return names.size === 0 ? [] : standingPermits(fence).filter(({ permit }) => !names.has(permit.node))
}
