import { z } from 'zod'
import { atomicList, type Frozen, int32, known, time } from './fields.ts'
import { conditionStatuses, rolloutConditionTypes } from './values.ts'

/** One condition of a Rollout or BatchRelease. `reason` and `message` are always there, `reason` may be empty. */
export const conditionSchema = z.object({
  type: known(rolloutConditionTypes).meta({ description: 'What the condition is about.' }),
  status: known(conditionStatuses).meta({ description: 'Whether it holds.' }),
  lastUpdateTime: time().optional().meta({ description: 'When anything of it last changed.' }),
  lastTransitionTime: time().optional().meta({ description: 'When its status last changed.' }),
  reason: z.string().meta({ description: 'Why, in one word; may be empty.' }),
  message: z.string().meta({ description: 'Why, for a person.' }),
})
/** @see conditionSchema */
export type RolloutCondition = Frozen<z.infer<typeof conditionSchema>>

/** Why the new version is taken to be bad. `nodes` is bounded. */
export const failureSchema = z.object({
  reason: z.string().meta({ description: 'Why the new version is taken to be bad, in one word.' }),
  message: z.string().meta({ description: 'What was seen, for a person.' }),
  nodes: atomicList(z.string()).meta({ description: 'Nodes on which it was seen, at most as many as a status lists.' }),
})
/** @see failureSchema */
export type Failure = Frozen<z.infer<typeof failureSchema>>

/** Nodes that came to the canary revision without our doing. `nodes` is bounded, `count` is exact. */
export const leakedSchema = z.object({
  count: int32().min(0).meta({ format: 'int32', description: 'How many nodes came to the canary revision by other hands.' }),
  nodes: atomicList(z.string()).meta({ description: 'Their names, at most as many as a status lists.' }),
})
/** @see leakedSchema */
export type Leaked = Frozen<z.infer<typeof leakedSchema>>

/** Names of nodes that are passed over: NotReady or excluded. */
export const skippedNodesSchema = atomicList(z.string()).meta({ description: 'Nodes passed over: NotReady or excluded.' })
