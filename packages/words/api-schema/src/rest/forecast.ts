import { z } from 'zod'
import type { Frozen } from '../fields.ts'

/** What a forecast is asked. */
export const forecastRequestSchema = z
  .strictObject({
    image: z.string().min(1).optional().meta({
      description:
        '`CONTAINER=IMAGE`, or `IMAGE` for the only container: the change to plan; without it what is under way or would be next.',
    }),
    if: z.array(z.string().min(1).max(200)).max(20).optional().meta({
      description: 'What goes wrong: `node-7 fails`, `node-7 is NotReady`, `5% crash`, `3 crash`, `node-7 crashes`, `zone-a fails`.',
    }),
    approveAfterSeconds: z.int().min(0).max(86_400).optional().meta({
      description: 'How long a person takes to approve a step; default 0: pauses for a person count nothing.',
    }),
  })
  .meta({ id: 'ForecastRequest' })
/** @see forecastRequestSchema */
export type ForecastRequest = Frozen<z.infer<typeof forecastRequestSchema>>

/** What would happen: the whole system run in virtual time on a copy of the cluster. */
export const forecastSchema = z
  .object({
    nodes: z
      .array(
        z.object({
          name: z.string(),
          batch: z.int().min(0).meta({ description: 'From 1; 0: not updated.' }),
          order: z.int().min(0).meta({ description: 'From 1, over the whole release; 0: not updated.' }),
          reason: z.string().meta({ description: 'Why at that place, or why not at all.' }),
          atSeconds: z.number().optional().meta({ description: 'When its old pod would be deleted, in seconds from now.' }),
        }),
      )
      .meta({ description: 'In the order in which they would be updated; those that would not be come last.' }),
    etaSeconds: z
      .object({ low: z.number(), high: z.number() })
      .nullable()
      .meta({ description: 'When it would be over; null where it would not end by itself.' }),
    peakUnavailable: z.int().min(0).meta({ description: 'Most nodes down at a time.' }),
    maxUnavailable: z.int().min(0),
    outcome: z.enum(['Completes', 'Stops', 'RollsBack', 'Blocked']),
    nodesHit: z
      .int()
      .min(0)
      .meta({ description: 'Nodes that would have had the new version when it stopped; those updated where it completes.' }),
    message: z.string().meta({ description: 'The outcome for a person: what would stop or block it, where, and when.' }),
    batches: z.array(
      z.object({
        index: z.int().min(1),
        nodes: z.int().min(0),
        startSeconds: z.number(),
        endSeconds: z.number().nullable(),
        pause: z.string().optional(),
      }),
    ),
    assumptions: z.array(z.string()).meta({ description: 'What the forecast rests on: pod start times that were measured, pauses …' }),
  })
  .meta({ id: 'Forecast' })
/** @see forecastSchema */
export type Forecast = Frozen<z.infer<typeof forecastSchema>>
