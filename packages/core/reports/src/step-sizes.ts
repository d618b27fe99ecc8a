import { batchReach, batchSize, stepsOf } from '@tranche/planner'
import type { Outline } from './outline.ts'

/** Cumulative number of nodes after each step of the Rollout, with the present nodes. */
export function stepSizes({ fleet, rules, facts }: Outline): readonly number[] {
  const steps = stepsOf(facts.rollout)
  const plan = { batches: steps.map(({ replicas = '100%' }) => ({ canaryReplicas: replicas })) }
  return steps.map((_, batch) =>
    rules?.steps === undefined ? batchSize(plan, batch, fleet.desired) : batchReach(fleet, { plan, nodes: rules, batch }).size,
  )
}
