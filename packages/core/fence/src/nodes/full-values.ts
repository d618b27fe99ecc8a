import { valueIn } from '@tranche/kube-types'
import type { ReleaseNodeRules } from '@tranche/api-schema'
import type { NodeView } from '@tranche/fleet'

/** @see fullValues */
export interface FullValue {
  readonly key: string
  readonly value: string
  readonly limit: number
  readonly nodes: readonly string[]
}

/** Values of the label with as many nodes down as the rule allows. */
export function fullValues(rule: NonNullable<ReleaseNodeRules['spread']>[number], down: readonly NodeView[]): readonly FullValue[] {
  const { topologyKey: key, maxUnavailable: limit } = rule
  const byValue = Map.groupBy(down, (node) => valueOn(node, key))
  return [...byValue].flatMap(([value, nodes]) =>
    nodes.length < limit ? [] : [{ key, value, limit, nodes: nodes.map(({ name }) => name) }],
  )
}

/** Value of the label on the node; empty where it has none. */
export function valueOn({ labels }: NodeView, key: string): string {
  return valueIn(labels, key) ?? ''
}
