import { z } from 'zod'
import { atomicList, type Frozen, int32, known, textUpTo, time } from './fields.ts'
import { sizeLimits } from './size-limits.ts'
import { conditionStatuses, rolloutConditionTypes } from './values.ts'

/** One condition of a Rollout or BatchRelease. `reason` and `message` are always present; `reason` may be empty. */
export const conditionSchema = z.object({
  type: known(rolloutConditionTypes).meta({ description: 'Type of the condition.' }),
  status: known(conditionStatuses).meta({ description: 'Status of the condition: True, False or Unknown.' }),
  lastUpdateTime: time().optional().meta({ description: 'Time of the last change of any field of the condition.' }),
  lastTransitionTime: time().optional().meta({ description: 'Time of the last change of the status.' }),
  reason: z.string().meta({ description: 'Reason for the status, in one word; may be empty.' }),
  message: z.string().meta({ description: 'Human-readable explanation of the status.' }),
})
/** @see conditionSchema */
export type RolloutCondition = Frozen<z.infer<typeof conditionSchema>>

const failedNodeSchema = z.object({
  node: z.string().meta({ description: 'Name of the node.' }),
  reason: z.string().meta({ description: 'Reason in one word, such as CrashLoopBackOff, ProgressDeadlineExceeded or NodeNotReady.' }),
  container: z.string().optional().meta({ description: 'Name of the failing container.' }),
  exitCode: int32().optional().meta({ description: 'Exit code of its last termination.' }),
  restarts: int32().optional().meta({ description: 'Container restarts on the node since its update.' }),
  message: z.string().optional().meta({ description: 'Last message of the container or pod, truncated to 256 characters.' }),
})
/** A node on which the new version failed. */
export type FailedNode = Frozen<z.infer<typeof failedNodeSchema>>

/** Why the new version is considered bad. `nodes` and `failedNodes` are bounded; `count` is exact. */
export const failureSchema = z.object({
  reason: z.string().meta({ description: 'Why the new version is considered bad, in one word.' }),
  message: z.string().meta({ description: 'Human-readable description of the failure.' }),
  nodes: atomicList(z.string()).meta({ description: 'Names of failed nodes, at most 50.' }),
  count: int32().optional().meta({ description: 'Number of failed nodes.' }),
  limit: int32().optional().meta({ description: 'Number of failed nodes that are tolerated.' }),
  failedNodes: atomicList(failedNodeSchema).optional().meta({ description: 'Details of failed nodes, at most ten.' }),
  at: time().optional().meta({ description: 'Time when the failure was found.' }),
  action: z.string().optional().meta({ description: 'Action taken: Pause, Rollback or Continue.' }),
  stops: z.boolean().optional().meta({ description: 'Whether the failure stops the release until a user or autoResume lifts it.' }),
  recoveredSince: time().optional().meta({
    description:
      'Since when the number of failed nodes has been within the limit while the failure stops the release. autoResume counts from here.',
  }),
  calmSince: time().optional().meta({ description: 'recoveredSince as the previous version named it; read only.' }),
  release: z.string().optional().meta({
    description:
      'Value of spec.tranche.release when the failure was found; followed by `/left` after the end of the release, for a failure on a node that it left.',
  }),
  retry: z.string().optional().meta({ description: 'Value of spec.tranche.retry at that time. A different value lifts the failure.' }),
  accepted: atomicList(z.string())
    .optional()
    .meta({ description: 'Nodes whose failures a retry accepted, at most 1000. They no longer count in this release.' }),
})
/** @see failureSchema */
export type Failure = Frozen<z.infer<typeof failureSchema>>

/** Nodes that got the canary revision outside the release. `nodes` is bounded; `count` is exact. */
export const leakedSchema = z.object({
  count: int32().min(0).meta({ format: 'int32', description: 'Number of nodes that got the canary revision outside the release.' }),
  nodes: atomicList(z.string()).meta({ description: 'Names of these nodes, at most 50.' }),
})
/** @see leakedSchema */
export type Leaked = Frozen<z.infer<typeof leakedSchema>>

const waitFields = {
  reason: z.string().meta({ description: 'What the release waits for, in one word.' }),
  message: z.string().meta({ description: 'Human-readable description of what the release waits for.' }),
  nodes: atomicList(z.string()).meta({ description: 'Nodes that it waits for, at most 50.' }),
}

/** What a batch waits for, since when, and on which nodes (at most 50). */
export const waitingSchema = z.object({ ...waitFields, since: time().meta({ description: 'Time when the wait began.' }) })
/** @see waitingSchema */
export type Waiting = Frozen<z.infer<typeof waitingSchema>>

/** What a release waits for within its step, and on which nodes (at most 50). */
export const waitingForSchema = z.object({ ...waitFields, since: time().optional().meta({ description: 'Time when the wait began.' }) })
/** @see waitingForSchema */
export type WaitingFor = Frozen<z.infer<typeof waitingForSchema>>

/** Maximum number of former revisions that a status names: the newest. The others count as superseded. */
export const FORMER_REVISIONS_MAX = 20

/** Revisions that were stable once and that nodes still run, such as dead ones; at most {@link FORMER_REVISIONS_MAX}. */
export const formerRevisionsSchema = atomicList(textUpTo(sizeLimits.name)).max(FORMER_REVISIONS_MAX).meta({
  description:
    'controller-revision-hash of each revision that was stable once, or ran before the first release, and that nodes still run. On dead nodes they count as the stable one does.',
})

/** Names of skipped nodes: NotReady, in maintenance, or excluded. */
export const skippedNodesSchema = atomicList(z.string()).meta({
  description: 'Skipped nodes: NotReady, in maintenance, or excluded by the policy.',
})
