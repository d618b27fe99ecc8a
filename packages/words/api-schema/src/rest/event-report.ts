import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { moment } from './fields.ts'

/** One Kubernetes event about a Rollout, its BatchRelease or its DaemonSet. */
export const eventReportSchema = z
  .object({
    at: moment(),
    type: z.enum(['Normal', 'Warning']),
    reason: z.string(),
    object: z.string().meta({ description: '`Kind/name`.' }),
    message: z.string(),
    count: z.int().optional(),
  })
  .meta({ id: 'Event' })
/** @see eventReportSchema */
export type EventReport = Frozen<z.infer<typeof eventReportSchema>>
