import { z } from 'zod'
import type { Frozen } from './fields.ts'

/** Names a key of a Secret. */
export const secretKeySchema = z.object({
  name: z.string().meta({ description: 'Name of a Secret in the namespace of the policy.' }),
  key: z.string().meta({ description: 'Key in the Secret.' }),
})
/** Reference to a key of a Secret. Its value never appears in a status or a log. */
export type SecretKey = Frozen<z.infer<typeof secretKeySchema>>

/** A header of a request: a value, or a Secret that holds it. */
export const headerSchema = z.object({
  name: z.string().meta({ description: 'Name of the header.' }),
  value: z.string().optional().meta({ description: 'Value of the header.' }),
  valueFrom: secretKeySchema.optional().meta({ description: 'Secret that holds the value.' }),
})
