import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { namespaceParamsSchema } from './paging.ts'
import { actionBodySchema, actionTypes } from './action.ts'

/** What a pipeline sends to a hook: one action, and an id by which it is carried out once. */
export const hookBodySchema = actionBodySchema
  .extend({
    id: z.string().min(1).max(255).meta({ description: 'Id of this action: the same id by the same hook is carried out once.' }),
    action: z.enum(actionTypes).meta({ description: 'One that the hook allows.' }),
  })
  .meta({ id: 'HookMessage' })
/** @see hookBodySchema */
export type HookBody = Frozen<z.infer<typeof hookBodySchema>>

/** Path of one hook. */
export const hookParamsSchema = namespaceParamsSchema.extend({
  hook: namespaceParamsSchema.shape.namespace.meta({ description: 'Name of the Secret that the hook is made of.' }),
})

/** What proves that a message was made by who has the key. */
export const hookHeadersSchema = z.object({
  'x-tranche-signature': z.string().max(256).optional().meta({
    description: '`t=SECONDS,v1=HEX`: epoch seconds, and the HMAC-SHA-256 of `SECONDS.BODY` with the key of the hook.',
  }),
})
