import { z } from 'zod'
import type { Frozen } from '../fields.ts'

/**
 * Problem details (RFC 9457), served as `application/problem+json`. `code` is from docs/reference/error-codes.md and never changes its
 * meaning.
 */
export const problemSchema = z
  .object({
    type: z.string().meta({ description: 'URL that explains the code.' }),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string().meta({ description: 'Problem of this request, and its fix.' }),
    instance: z.string().optional().meta({ description: 'Id of the request, which is also in the log.' }),
    problems: z
      .array(z.object({ path: z.string(), value: z.unknown().optional(), fix: z.string() }))
      .optional()
      .meta({ description: 'Invalid fields, each with its fix.' }),
  })
  .meta({ id: 'Problem' })
/** @see problemSchema */
export type ProblemDetails = Frozen<z.infer<typeof problemSchema>>
