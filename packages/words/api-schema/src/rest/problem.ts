import { z } from 'zod'
import type { Frozen } from '../fields.ts'

/** A problem as of RFC 9457, served as `application/problem+json`. `code` is one of docs/errors.md and never changes its meaning. */
export const problemSchema = z
  .object({
    type: z.string().meta({ description: 'Where the code is explained.' }),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string().meta({ description: 'What is wrong with this request, and how to mend it.' }),
    instance: z.string().optional().meta({ description: 'Id of the request, as in the log.' }),
    problems: z
      .array(z.object({ path: z.string(), value: z.unknown().optional(), fix: z.string() }))
      .optional()
      .meta({ description: 'Each field that is wrong, with what to write instead.' }),
  })
  .meta({ id: 'Problem' })
/** @see problemSchema */
export type Problem = Frozen<z.infer<typeof problemSchema>>
