import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { moment } from './fields.ts'
import { eventReportSchema } from './event-report.ts'

/** Maximum number of events in one answer about a node. */
export const NODE_EVENTS_MAX = 50

const nodeEventSchema = eventReportSchema
  .extend({
    firstAt: moment().optional().meta({ description: 'Time of the first occurrence. Absent if the event does not have it.' }),
    source: z.string().optional().meta({ description: 'Component that reported the event, such as `kubelet`. It is not verified.' }),
  })
  .meta({ id: 'NodeEvent' })
/** One Kubernetes event about a node or its pod. */
export type NodeEvent = Frozen<z.infer<typeof nodeEventSchema>>

/** Kubernetes events about one node and the pod of the DaemonSet on it. */
export const nodeEventsSchema = z
  .object({
    items: z.array(nodeEventSchema).meta({ description: `Events, newest first, at most ${NODE_EVENTS_MAX}.` }),
    omitted: z
      .array(
        z.object({
          of: z.enum(['pod', 'node']).meta({ description: 'Whose events are left out.' }),
          lacks: z.enum(['caller', 'api']).meta({ description: 'Holder of the missing right: the caller, or the account of the API.' }),
          permission: z.string().meta({ description: 'The missing right in words, such as `list events in namespace "default"`.' }),
        }),
      )
      .meta({ description: 'Events that are left out for a missing right.' }),
  })
  .meta({ id: 'NodeEvents' })
/** @see nodeEventsSchema */
export type NodeEvents = Frozen<z.infer<typeof nodeEventsSchema>>
