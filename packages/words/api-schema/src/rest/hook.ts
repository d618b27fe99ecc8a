import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { namespaceParamsSchema } from './paging.ts'
import { actionBodySchema, actionTypes } from './action.ts'

/** Body that a pipeline sends to a hook: one action, and an id that makes repeats harmless. */
export const hookBodySchema = actionBodySchema
  .extend({
    id: z.string().min(1).max(255).meta({ description: 'Id of this action. Each id is carried out once per hook.' }),
    action: z.enum(actionTypes).meta({ description: 'Action to carry out. The hook must allow it.' }),
  })
  .meta({ id: 'HookMessage' })
/** @see hookBodySchema */
export type HookBody = Frozen<z.infer<typeof hookBodySchema>>

/** Path of one hook. */
export const hookParamsSchema = namespaceParamsSchema.extend({
  hook: namespaceParamsSchema.shape.namespace.meta({ description: 'Name of the Secret that defines the hook.' }),
})

/** Signature header, which proves that the sender has the key of the hook. */
export const hookHeadersSchema = z.object({
  'x-tranche-signature': z.string().max(256).optional().meta({
    description: '`t=SECONDS,v1=HEX`: the time in epoch seconds, and the HMAC-SHA-256 of `SECONDS.BODY` with the key of the hook.',
  }),
})
