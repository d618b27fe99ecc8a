import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { actionTypes } from './action.ts'

/** Rights of the caller on one Rollout, as the API server of the cluster answers. */
export const permissionsSchema = z
  .object({
    items: z
      .array(
        z.object({
          action: z.enum(actionTypes),
          allowed: z.boolean().meta({ description: 'Whether the caller has the right for the action.' }),
          permission: z.string().meta({
            description: 'The right in words, such as `approve rollouts.rollouts.kruise.io "agent" in namespace "demo"`.',
          }),
        }),
      )
      .meta({ description: 'Every action, whether or not the release accepts it now.' }),
    template: z.boolean().meta({ description: 'Whether the caller may read pod templates: the right to `get` the DaemonSet.' }),
  })
  .meta({ id: 'Permissions' })
/** @see permissionsSchema */
export type Permissions = Frozen<z.infer<typeof permissionsSchema>>
