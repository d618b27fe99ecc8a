import { z } from 'zod'
import { duration, type Frozen, textUpTo, word } from './fields.ts'
import { sizeLimits } from './size-limits.ts'
import { nodeLockRules } from './values.ts'

/** How a release keeps away from other releases, and from other programs that take nodes down. */
export const downtimeSchema = z.object({
  group: textUpTo(sizeLimits.name).optional().meta({
    description:
      'Name of a group of DaemonSets, of which at most one is released at a time: those of the namespace whose policies name the same group. Default: no group.',
  }),
  nodeLock: word(nodeLockRules).optional().meta({
    description:
      'Whether to take the Lease of a node, which other programs that take nodes down respect as well, before its pod is deleted: Ignore or Take. With Take, a node whose Lease another program or release holds keeps its pod and waits. Default Ignore.',
  }),
  perDay: duration().optional().meta({
    description:
      'Time in which a node may be without an agent in a day because of Tranche. A node that has used it up in the last 24 hours keeps its pod until the time is below the limit again. A rollback does not wait. Default: no limit.',
  }),
})
/** @see downtimeSchema */
export type DowntimeRules = Frozen<z.infer<typeof downtimeSchema>>
