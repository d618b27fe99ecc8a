import type { ReleaseNodeRules, ReleasePlan } from '@tranche/api-schema'
import type { FleetView, NodeView } from '@tranche/fleet'
import { batchSize } from './batch-progress.ts'
import { batchScope, isInSteps } from '@tranche/fence'

/** Nodes that the batches up to one reach, including excluded and NotReady ones. */
export interface BatchReach {
  /** Cumulative number of nodes. */
  readonly size: number
  /** Desired nodes from which they come. */
  readonly nodes: readonly NodeView[]
}

/** A release plan with its node rules. */
export interface ReachQuestion {
  readonly plan: Pick<ReleasePlan, 'batches'>
  readonly nodes: ReleaseNodeRules | undefined
  /** Batch, from 0. */
  readonly batch: number
}

/** Computes the reach of a batch over the nodes that are desired now. */
export function batchReach(fleet: FleetView, { plan, nodes: rules, batch }: ReachQuestion): BatchReach {
  const desired = fleet.nodes.filter((node) => node.desired)
  const within = (step: number): readonly NodeView[] => {
    const scope = batchScope(rules, step)
    return scope.rules.hasSteps ? desired.filter((node) => isInSteps(scope, node)) : desired
  }
  return { size: batchSize(plan, batch, (step) => within(step).length), nodes: within(batch) }
}

/** Whether `other` reaches everything that `reach` does. */
export function isWithinReach(reach: BatchReach, other: BatchReach): boolean {
  const names = new Set(other.nodes.map(({ name }) => name))
  return reach.size <= other.size && reach.nodes.every(({ name }) => names.has(name))
}
