import type { ReleaseNodeRules, ReleasePlan } from '@tranche/api-schema'
import type { FleetView, NodeView } from '@tranche/fleet'
import { batchSize } from '../release/batch-progress.ts'
import { batchScope, isInSteps } from './batch-scope.ts'

/** How far the batches up to one reach, excluded and NotReady nodes included. */
export interface BatchReach {
  /** Cumulative nodes. */
  readonly size: number
  /** The desired nodes among which they are. */
  readonly nodes: readonly NodeView[]
}

/** A plan with the node rules beside it. */
export interface ReachQuestion {
  readonly plan: Pick<ReleasePlan, 'batches'>
  readonly nodes: ReleaseNodeRules | undefined
  /** From 0. */
  readonly batch: number
}

/** Works out how far a batch reaches, of the nodes that are desired now. */
export function batchReach(fleet: FleetView, { plan, nodes: rules, batch }: ReachQuestion): BatchReach {
  const desired = fleet.nodes.filter((node) => node.desired)
  const within = (step: number): readonly NodeView[] => {
    const scope = batchScope(rules, step)
    return scope.rules.hasSteps ? desired.filter((node) => isInSteps(scope, node)) : desired
  }
  return { size: batchSize(plan, batch, (step) => within(step).length), nodes: within(batch) }
}

/** Nothing is reached that the other does not reach as well. */
export function isWithinReach(reach: BatchReach, other: BatchReach): boolean {
  const names = new Set(other.nodes.map(({ name }) => name))
  return reach.size <= other.size && reach.nodes.every(({ name }) => names.has(name))
}
