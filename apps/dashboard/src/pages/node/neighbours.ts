import type { NodeReport } from '@tranche/api-schema'

/** Place of a node among the nodes in the same state, by name. */
export interface Neighbours {
  /** From 1. */
  readonly position: number
  readonly count: number
  /** Null for the first. */
  readonly previous: string | null
  /** Null for the last. */
  readonly next: string | null
}

const names = new Intl.Collator('en', { numeric: true })

/** @returns the neighbours of a node among those in its state, as people count: `node-9` before `node-10`; null if it is not among them */
export function neighboursOf(nodes: ReadonlyMap<string, Pick<NodeReport, 'name' | 'state'>>, name: string): Neighbours | null {
  const node = nodes.get(name)
  if (node === undefined) return null
  const alike = [...nodes.values()].filter(({ state }) => state === node.state).map((one) => one.name)
  alike.sort(names.compare)
  const at = alike.indexOf(name)
  return { position: at + 1, count: alike.length, previous: alike[at - 1] ?? null, next: alike[at + 1] ?? null }
}
