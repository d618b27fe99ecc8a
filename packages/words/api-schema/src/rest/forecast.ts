import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { count } from './fields.ts'
import { leftCauses } from './left-words.ts'

/** Accepted forms of a fault to assume, for error messages. */
export const INJECTED_FAULT_FORMS = 'NODE fails, NODE is NotReady, NODE crashes, the same with a ZONE, 3 crash, 5% crash'
/** Subject and verb of a fault to assume. Whether the subject exists is for the cluster to say. */
export const injectedFaultPattern = /^(\S+)\s+(fails?|crash(?:es)?|(?:is|are)\s+NotReady)$/i

/** Body of a forecast request. */
export const forecastRequestSchema = z
  .strictObject({
    image: z.string().min(1).optional().meta({
      description:
        'Image change to plan: `CONTAINER=IMAGE`, or `IMAGE` for a single container. Default: the current release, or the next one.',
    }),
    if: z.array(z.string().min(1).max(200)).max(20).optional().meta({
      description: 'Faults to assume: `node-7 fails`, `node-7 is NotReady`, `5% crash`, `3 crash`, `node-7 crashes`, `zone-a fails`.',
    }),
    approveAfterSeconds: z.int().min(0).max(86_400).optional().meta({
      description: 'Seconds that a person takes to approve a step. Default 0: approval takes no time.',
    }),
  })
  .meta({ id: 'ForecastRequest' })
/** @see forecastRequestSchema */
export type ForecastRequest = Frozen<z.infer<typeof forecastRequestSchema>>

/** Result of a forecast, which runs the whole system in virtual time on a copy of the cluster. */
export const forecastSchema = z
  .object({
    nodes: z
      .array(
        z.object({
          name: z.string(),
          batch: z.int().min(0).meta({ description: 'Batch, from 1; 0 if not updated.' }),
          order: z.int().min(0).meta({ description: 'Position in the whole release, from 1; 0 if not updated.' }),
          reason: z.string().meta({ description: 'Why the node has this position, or why it is not updated.' }),
          cause: z.enum(leftCauses).optional().meta({
            description: 'Why the release leaves the node, in one word: Dead, NotReady, Maintenance or Excluded. Absent otherwise.',
          }),
          atSeconds: z.number().optional().meta({ description: 'Seconds from now until its old pod would be deleted.' }),
        }),
      )
      .meta({ description: 'Nodes in update order. Nodes that would not be updated come last.' }),
    dead: z
      .object({
        count: count('Dead nodes. They belong to no batch, and the end of the release does not depend on them.'),
        exempt: count('Dead nodes that do not count for `maxUnavailable`: all of them, or none.'),
        exemptLimit: count('Maximum number of dead nodes that do not count: `nodes.notReady.exempt` of the policy, in nodes.'),
      })
      .optional()
      .meta({ description: 'Nodes that are dead at the start, and updated on return. Absent in answers of older versions.' }),
    etaSeconds: z
      .object({ low: z.number(), high: z.number() })
      .nullable()
      .meta({ description: 'Seconds from now until the release would end. Null if it would not end by itself.' }),
    peakUnavailable: z
      .int()
      .min(0)
      .meta({ description: 'Maximum number of nodes unavailable at the same time, without dead nodes that do not count.' }),
    maxUnavailable: z.int().min(0),
    unavailable: z
      .array(
        z.object({
          atSeconds: z.number().meta({ description: 'Seconds from now.' }),
          nodes: z.int().min(0).meta({ description: 'Number of unavailable nodes from then on, without dead nodes that do not count.' }),
        }),
      )
      .meta({
        description:
          'Unavailable nodes over time: one point at 0, then one for each change, at most 200. With more changes, nearby ones are merged.',
      }),
    outcome: z.enum(['Completes', 'Stops', 'RollsBack', 'Blocked']),
    nodesHit: z.int().min(0).meta({ description: 'Nodes on the new version when the release stops or completes.' }),
    message: z.string().meta({ description: 'Human-readable outcome: what would stop or block the release, where and when.' }),
    batches: z.array(
      z.object({
        index: z.int().min(1),
        nodes: z.int().min(0),
        startSeconds: z.number(),
        endSeconds: z.number().nullable(),
        pause: z.string().optional(),
      }),
    ),
    assumptions: z.array(z.string()).meta({ description: 'Assumptions of the forecast, such as measured pod start times and pauses.' }),
  })
  .meta({ id: 'Forecast' })
/** @see forecastSchema */
export type Forecast = Frozen<z.infer<typeof forecastSchema>>
