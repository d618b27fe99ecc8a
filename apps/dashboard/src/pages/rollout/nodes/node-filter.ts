import type { NodeReport, ReportedNodeState } from '@tranche/api-schema'
import { nodeStateOrder } from '../../../format/outcome-text.ts'

/** Columns that sort the table of nodes. */
export const nodeSorts = ['state', 'name', 'zone', 'since', 'batch', 'restarts'] as const
/** @see nodeSorts */
export type NodeSort = (typeof nodeSorts)[number]

/** Selection of the map and the table of nodes, kept in the URL. */
export interface NodeFilter {
  /** Null: every state. */
  readonly state: ReportedNodeState | null
  /** Text in the name or zone. */
  readonly text: string
  readonly sort: NodeSort
  readonly isDescending: boolean
  /** Whether the table is open. */
  readonly isTable: boolean
}

/** @returns the filter of a URL; unknown values count as absent */
export function nodeFilterOf(query: Readonly<Record<string, string>>): NodeFilter {
  return {
    state: nodeStateOrder.find((state) => state === query['state']) ?? null,
    text: query['node'] ?? '',
    sort: nodeSorts.find((sort) => sort === query['sort']) ?? 'state',
    isDescending: query['order'] === 'desc',
    isTable: query['table'] === 'true',
  }
}

/** @returns the query of a filter; defaults are left out */
export function nodeQueryOf({ state, text, sort, isDescending, isTable }: NodeFilter): Readonly<Record<string, string>> {
  return {
    ...(state !== null && { state }),
    ...(text !== '' && { node: text }),
    ...(sort !== 'state' && { sort }),
    ...(isDescending && { order: 'desc' }),
    ...(isTable && { table: 'true' }),
  }
}

/** @returns counts of nodes by state */
export function countNodeStates(nodes: Iterable<Pick<NodeReport, 'state'>>): Partial<Readonly<Record<ReportedNodeState, number>>> {
  const counts: Partial<Record<ReportedNodeState, number>> = {}
  for (const { state } of nodes) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

/** @returns the nodes of a filter in its order; equal ones by name, numbers in numeric order: `node-9` before `node-10` */
export function filterNodes(nodes: Iterable<NodeReport>, filter: NodeFilter): readonly NodeReport[] {
  const text = filter.text.toLowerCase()
  const isShown = ({ name, zone, state }: NodeReport): boolean =>
    (filter.state === null || state === filter.state) &&
    (text === '' || name.toLowerCase().includes(text) || zone.toLowerCase().includes(text))
  const sign = filter.isDescending ? -1 : 1
  return [...nodes].filter(isShown).sort((a, b) => sign * compareBy(a, b, filter.sort) || names.compare(a.name, b.name))
}

const names = new Intl.Collator('en', { numeric: true })

function compareBy(a: NodeReport, b: NodeReport, sort: NodeSort): number {
  switch (sort) {
    case 'state':
      return nodeStateOrder.indexOf(a.state) - nodeStateOrder.indexOf(b.state)
    case 'name':
      return names.compare(a.name, b.name)
    case 'zone':
      return names.compare(a.zone, b.zone)
    case 'since':
      return compareText(a.since ?? '9', b.since ?? '9')
    case 'batch':
      return (a.batch ?? 0) - (b.batch ?? 0)
    case 'restarts':
      return (a.restarts ?? 0) - (b.restarts ?? 0)
  }
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
