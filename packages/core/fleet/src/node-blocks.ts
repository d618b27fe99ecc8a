import type { NodeBlock, NodeView } from './fleet-view.ts'

/**
 * Nodes in a fresh block; one that grows to twice as many is cut in two. Few, so that many changes at once still leave most
 * blocks as they were; enough that going through the blocks is cheap.
 */
const BLOCK_NODES = 16

/** @param nodes by name @returns the nodes in blocks */
export function toBlocks(nodes: readonly NodeView[]): readonly NodeBlock[] {
  const blocks: NodeBlock[] = []
  for (let at = 0; at < nodes.length; at += BLOCK_NODES) blocks.push(nodes.slice(at, at + BLOCK_NODES))
  return blocks
}

/**
 * Takes changes over. Costs what has changed: a block without a change stays the same array.
 *
 * @param changes name → the node as it is now; undefined where it has left the view
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

/** @returns whether that changed anything */
function setNode(block: NodeView[], name: string, node: NodeView | undefined): boolean {
  const at = firstAbove(block, (other) => other.name >= name)
  const isThere = block[at]?.name === name
  if (node !== undefined) block.splice(at, isThere ? 1 : 0, node)
  else if (isThere) block.splice(at, 1)
  return isThere || node !== undefined
}

/** @returns the first position at which `isAbove` holds; it must hold at every later one; the length where it holds nowhere */
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
