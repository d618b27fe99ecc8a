import { z } from 'zod'

/** Schema of a time in RFC 3339. */
export const moment = (): z.ZodString => z.string().meta({ format: 'date-time' })

/** Schema of a number of things. */
export const count = (description: string): z.ZodNumber => z.int().min(0).meta({ description })
