import type { ReleaseNodeRules } from '@tranche/api-schema'
import type { FleetView, NodeView } from '@tranche/fleet'
import { type BatchScope, isInScope, fullValues, valueOn, isInReach, oldNodes } from '@tranche/fence'
import { firstNodes } from './unwell-text.ts'

/** A wait of a batch whose every node waits for others of its zone, rack or other spread value. */
export interface SpreadWait {
  readonly text: string
  /** Nodes that use the budget. */
  readonly nodes: readonly string[]
}

/** Input of {@link spreadWait}. */
export interface SpreadQuestion {
  readonly fleet: FleetView
  readonly revision: string
  /** Undefined where it is unknown. */
  readonly stable: string | undefined
  /** Revisions that completed releases left behind on nodes. */
  readonly left: readonly string[]
  readonly rules: ReleaseNodeRules | undefined
  readonly scope: BatchScope
  /** Nodes that use the budget. */
  readonly unavailable: readonly string[]
}

/** Label values with as many nodes down as allowed, where that keeps every node waiting; null where it does not. */
export function spreadWait({ fleet, revision, stable, left, rules, scope, unavailable }: SpreadQuestion): SpreadWait | null {
  const spread = rules?.spread ?? []
  if (spread.length === 0) return null
  const isDown = new Set(unavailable)
  const down = fleet.nodes.filter(({ name }) => isDown.has(name))
  const revisions = { canary: revision, stable, left }
  const candidates = oldNodes(fleet, revision).filter((node) => isInReach(node, revisions) && isInScope(scope, node))
  const full = spread.flatMap((rule) => fullValues(rule, down))
  const waits = (node: NodeView): boolean =>
    full.some(({ key, value, nodes }) => valueOn(node, key) === value && !nodes.includes(node.name))
  if (candidates.length === 0 || !candidates.every(waits)) return null
  const bound = full.filter(({ key, value }) => candidates.some((node) => valueOn(node, key) === value))
  const texts = bound.map(
    ({ key, value, nodes, limit }) =>
      `${valueText(key, value)} may have ${limit} down, and ${firstNodes(nodes)} ${nodes.length === 1 ? 'is' : 'are'}`,
  )
  return { text: texts.slice(0, 3).join('; '), nodes: [...new Set(bound.flatMap(({ nodes }) => nodes))] }
}

function valueText(key: string, value: string): string {
  return value === '' ? `nodes without ${key} together` : `${key}=${value}`
}
