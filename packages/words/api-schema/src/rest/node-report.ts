import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { moment } from './fields.ts'

/**
 * State of a node in the release. `updated`: available on the canary revision. `old`: available on another revision. `updating`: no pod, a
 * terminating pod, or a new pod that is not available yet. `down`: an old pod that is not available. `failing`: counts as a failure of the
 * new version, or has a container that does not run. `notReady`: the node's Ready condition is not True. `excluded`: excluded by the policy.
 */
export const nodeStates = ['updated', 'updating', 'old', 'down', 'failing', 'notReady', 'excluded'] as const
/** @see nodeStates */
export type ReportedNodeState = (typeof nodeStates)[number]

/**
 * Role of a revision in the release. `former`: neither stable nor canary, but stable once, or from before the Rollout. `superseded`: never
 * stable.
 */
export const revisionRoles = ['stable', 'canary', 'former', 'superseded', 'none'] as const
/** @see revisionRoles */
export type RevisionRole = (typeof revisionRoles)[number]

/**
 * Why a node out of reach costs budget, or costs none (`Exempt`). `TooManyDead`: more nodes are dead than the policy exempts. `InFlight`: it
 * went away while its pod was replaced. `NeverStable`: it runs a revision that was never stable. `Updated`: it runs the revision that is
 * released. `NoPod`: it has no pod. `NotDeadYet`: it has not been NotReady for long enough.
 */
export const nodeBudgetReasons = ['Exempt', 'TooManyDead', 'InFlight', 'NeverStable', 'Updated', 'NoPod', 'NotDeadYet'] as const
/** @see nodeBudgetReasons */
export type NodeBudgetReason = (typeof nodeBudgetReasons)[number]

const nodeBudgetSchema = z.object({
  counts: z.boolean().meta({ description: 'Whether the node counts as unavailable for `maxUnavailable`.' }),
  reason: z.enum(nodeBudgetReasons),
  message: z.string().meta({ description: 'Why it counts, or does not, and what would change that.' }),
})
/** Whether a node costs budget, and why. */
export type NodeBudget = Frozen<z.infer<typeof nodeBudgetSchema>>

/** State of one node in the release. */
export const nodeReportSchema = z
  .object({
    name: z.string(),
    zone: z.string().meta({ description: 'Zone of the node; empty if it has none.' }),
    state: z.enum(nodeStates),
    role: z.enum(revisionRoles).meta({ description: "Role of its pod's revision in the release." }),
    revision: z.string().optional().meta({ description: 'controller-revision-hash of its pod.' }),
    pod: z.string().optional(),
    since: moment().optional().meta({ description: 'Time when the node entered this state, if the cluster has it.' }),
    failsAt: moment()
      .optional()
      .meta({ description: 'Time when the new version counts as failed on the node, unless a pod becomes available before.' }),
    batch: z.int().optional().meta({ description: 'Batch that updated the node, from 1.' }),
    why: z.string().optional().meta({ description: 'Why its pod is not available, or why the node was not updated.' }),
    budget: nodeBudgetSchema.optional().meta({
      description:
        'Whether it costs budget. Only for a node without an available pod that is NotReady or in maintenance, while a release runs.',
    }),
    restarts: z.int().optional(),
  })
  .meta({ id: 'Node' })
/** @see nodeReportSchema */
export type NodeReport = Frozen<z.infer<typeof nodeReportSchema>>
