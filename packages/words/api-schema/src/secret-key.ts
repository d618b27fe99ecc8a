import { z } from 'zod'
import { type Frozen, textUpTo } from './fields.ts'
import { sizeLimits } from './size-limits.ts'

/** Names a key of a Secret. */
export const secretKeySchema = z.object({
  name: textUpTo(sizeLimits.objectName).meta({ description: 'Name of a Secret in the namespace of the policy.' }),
  key: textUpTo(sizeLimits.objectName).meta({ description: 'Key in the Secret.' }),
})
/** Reference to a key of a Secret. Its value never appears in a status or a log. */
export type SecretKey = Frozen<z.infer<typeof secretKeySchema>>

/** A header of a request: a value, or a Secret that holds it. */
export const headerSchema = z.object({
  name: textUpTo(sizeLimits.reason).meta({ description: 'Name of the header.' }),
  value: textUpTo(sizeLimits.headerValue).optional().meta({ description: 'Value of the header.' }),
  valueFrom: secretKeySchema.optional().meta({ description: 'Secret that holds the value.' }),
})
