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

const failedNodeSchema = z.object({
  node: z.string().meta({ description: 'Node.' }),
  reason: z.string().meta({ description: 'What is wrong there, in one word: CrashLoopBackOff, ProgressDeadlineExceeded, NodeNotReady …' }),
  container: z.string().optional().meta({ description: 'Container that it is about.' }),
  exitCode: int32().optional().meta({ description: 'With which it ended last.' }),
  restarts: int32().optional().meta({ description: 'Restarts on the node since its update.' }),
  message: z.string().optional().meta({ description: 'What was said last, cut to 256 characters.' }),
})
/** A node on which the new version failed. */
export type FailedNode = Frozen<z.infer<typeof failedNodeSchema>>

/** Why the new version is taken to be bad. `nodes` and `failedNodes` are bounded, `count` is exact. */
export const failureSchema = z.object({
  reason: z.string().meta({ description: 'Why the new version is taken to be bad, in one word.' }),
  message: z.string().meta({ description: 'What was seen, for a person.' }),
  nodes: atomicList(z.string()).meta({ description: 'Nodes on which it was seen, at most as many as a status lists.' }),
  count: int32().optional().meta({ description: 'How many nodes failed.' }),
  limit: int32().optional().meta({ description: 'How many are tolerated.' }),
  failedNodes: atomicList(failedNodeSchema).optional().meta({ description: 'What was seen on each, at most ten.' }),
  at: time().optional().meta({ description: 'When it was found.' }),
  action: z.string().optional().meta({ description: 'What is done about it: Pause, Rollback or Continue.' }),
  stops: z.boolean().optional().meta({ description: 'It holds the release until somebody, or autoResume, lifts it.' }),
  calmSince: time().optional().meta({
    description: 'Since when no more nodes than tolerated have failed, while it holds the release; autoResume counts from then.',
  }),
  release: z.string().optional().meta({ description: 'spec.tranche.release in which it was found.' }),
  retry: z.string().optional().meta({ description: 'spec.tranche.retry at that time; another one lifts it.' }),
  accepted: atomicList(z.string())
    .optional()
    .meta({ description: 'Nodes whose failures a retry has accepted, at most a thousand; they count no more in this release.' }),
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

const waitFields = {
  reason: z.string().meta({ description: 'What it waits for, in one word.' }),
  message: z.string().meta({ description: 'What it waits for, for a person.' }),
  nodes: atomicList(z.string()).meta({ description: 'On which nodes, at most as many as a status lists.' }),
}

/** What a batch waits for, since when, and on which nodes (bounded). */
export const waitingSchema = z.object({ ...waitFields, since: time().meta({ description: 'Since when.' }) })
/** @see waitingSchema */
export type Waiting = Frozen<z.infer<typeof waitingSchema>>

/** What a release waits for within its step, and on which nodes (bounded). */
export const waitingForSchema = z.object({ ...waitFields, since: time().optional().meta({ description: 'Since when.' }) })
/** @see waitingForSchema */
export type WaitingFor = Frozen<z.infer<typeof waitingForSchema>>

/** Names of nodes that are passed over: NotReady or excluded. */
export const skippedNodesSchema = atomicList(z.string()).meta({ description: 'Nodes passed over: NotReady or excluded.' })
