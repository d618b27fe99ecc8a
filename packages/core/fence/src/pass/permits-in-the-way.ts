import type { NodeView } from '@tranche/fleet'
import { isKeptFromPermit, isUnknownForPermit } from '../nodes/node-check.ts'
import { executablePermits } from './executable-permits.ts'
import { type FenceState, knownChecks, mayGetPermit, permittedNodes, standingPermits, type TrackedPermit } from './fence-state.ts'
import { nodesBehindHead } from './nodes-behind-head.ts'
import { heldBySpread, nodesThatWouldGo } from './spread-holds.ts'

/** Permits that make way for other nodes, or a node that is to be checked before they do. Nothing where none makes way. */
export interface WayForNodes {
  readonly withdrawn: readonly TrackedPermit[]
  readonly unknown?: string | undefined
}

const NO_WAY: WayForNodes = { withdrawn: [] }

/**
 * F7: the first standing permit, where nothing may be executed: it waits because of U, and a broken old pod that may be taken has no permit
 * before it. See L18.
 */
export function headThatGivesWay(fence: FenceState): WayForNodes {
  const standing = standingPermits(fence)
  const head = standing.slice(0, 1)
  const next = head.length === 0 || executablePermits(fence).length > 0 ? [] : nodesThatMayGo(fence)
  const others = standing.filter(({ permit }) => !next.includes(permit.node))
  return next.length > 0 && (wouldGoOn(fence, head) || wouldGoOn(fence, others)) ? wayFor(fence, next, head) : NO_WAY
}

/** Nodes behind the first permit that may get one, or have one that may be used. Its check for the deletion prepares a node with a permit. */
function nodesThatMayGo(fence: FenceState): readonly string[] {
  const permitted = permittedNodes(fence.permits)
  const mayBeUsed = (name: string): boolean => permitted.has(name) && !isKeptFromPermit(knownChecks(fence), name)
  return nodesBehindHead(fence).flatMap(({ name }) => (mayBeUsed(name) || mayGetPermit(fence, name) ? [name] : []))
}

function wouldGoOn(fence: FenceState, without: readonly TrackedPermit[]): boolean {
  return fence.scope.rules.spread.length === 0 || nodesThatWouldGo(fence, without).length > 0
}

/**
 * F7: standing permits that wait for nodes of their own value, where others could use their slots. Those in front of a permit that does not
 * wait, else all of them; where nothing may be executed, also all standing permits. See L20.
 */
export function heldThatGiveWay(fence: FenceState): WayForNodes {
  const { held, inFront } = heldBySpread(fence)
  if (held.length === 0) return NO_WAY
  const all = executablePermits(fence).length > 0 ? [] : standingPermits(fence)
  for (const withdrawn of [inFront, held, all]) {
    const going = withdrawn.length === 0 ? [] : nodesThatWouldGo(fence, withdrawn)
    const next = going.filter((name) => !isKeptFromPermit(knownChecks(fence), name))
    if (next.length > 0) return wayFor(fence, next, withdrawn)
  }
  return NO_WAY
}

/** Permits stay until one of the next nodes is known to be ready: a blocked one would get no permit, and those of others would come back. */
function wayFor(fence: FenceState, next: readonly string[], withdrawn: readonly TrackedPermit[]): WayForNodes {
  const isUnknown = (name: string): boolean => isUnknownForPermit(knownChecks(fence), name)
  return next.every(isUnknown) ? { withdrawn: [], unknown: next[0] } : { withdrawn }
}

/** F7: standing permits of nodes other than those to delete on again. See L19. */
export function permitsInTheWay(fence: FenceState, again: readonly NodeView[]): readonly TrackedPermit[] {
  const names = new Set(again.map(({ name }) => name))
  return names.size === 0 ? [] : standingPermits(fence).filter(({ permit }) => !names.has(permit.node))
}
