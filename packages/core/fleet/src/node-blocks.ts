import type { NodeBlock, NodeView } from './fleet-view.ts'

/**
 * Number of nodes in a new block; a block that grows to twice as many is split. Small enough that many changes leave most blocks
 * unchanged, and large enough that iterating over the blocks is cheap.
 */
const BLOCK_NODES = 16

/** @param nodes sorted by name @returns the nodes in blocks */
export function toBlocks(nodes: readonly NodeView[]): readonly NodeBlock[] {
  const blocks: NodeBlock[] = []
  for (let at = 0; at < nodes.length; at += BLOCK_NODES) blocks.push(nodes.slice(at, at + BLOCK_NODES))
  return blocks
}

/**
 * Applies changes. Costs only the changes: a block without one stays the same array.
 *
 * @param changes by name, the present node; undefined when it has left the view
 */
export function changeBlocks(blocks: readonly NodeBlock[], changes: ReadonlyMap<string, NodeView | undefined>): readonly NodeBlock[] {
  const changed = new Map<number, NodeView[]>()
  for (const [name, node] of changes) {
    const at = Math.max(0, firstAbove(blocks, (block) => block[0]!.name > name) - 1)
    const block = changed.get(at) ?? [...(blocks[at] ?? [])]
    if (setNode(block, name, node)) changed.set(at, block)
  }
  if (blocks.length === 0) return toBlocks(changed.get(0) ?? [])
  return blocks.flatMap((block, at) => {
    const now = changed.get(at)
    if (now === undefined) return [block]
    return now.length < 2 * BLOCK_NODES ? (now.length === 0 ? [] : [now]) : toBlocks(now)
  })
}

/** @returns whether the block changed */
function setNode(block: NodeView[], name: string, node: NodeView | undefined): boolean {
  const at = firstAbove(block, (other) => other.name >= name)
  const isThere = block[at]?.name === name
  if (node !== undefined) block.splice(at, isThere ? 1 : 0, node)
  else if (isThere) block.splice(at, 1)
  return isThere || node !== undefined
}

/** @returns the first index at which `isAbove` holds, else the length; it must hold at all later indexes too */
function firstAbove<T>(list: readonly T[], isAbove: (item: T) => boolean): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isAbove(list[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}
