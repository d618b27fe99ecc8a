import { z } from 'zod'
import type { Frozen } from '../fields.ts'

/** Sections of a policy in words, in order. */
const policySections = [
  'nodes',
  'maxUnavailable',
  'failure',
  'prePull',
  'drain',
  'soak',
  'analysis',
  'downtime',
  'config',
  'notify',
] as const

/** The release policy of a Rollout, in words. */
export const policyReportSchema = z
  .object({
    name: z.string().optional().meta({ description: 'Name of the ReleasePolicy. Absent if the Rollout names none.' }),
    found: z.boolean().meta({ description: 'Whether the ReleasePolicy exists.' }),
    sections: z
      .array(
        z.object({
          section: z.enum(policySections).meta({ description: 'Field of the policy that the sentences are about.' }),
          sentences: z.array(z.string()).meta({ description: 'Human-readable sentences, with the defaults of what the policy omits.' }),
        }),
      )
      .meta({
        description:
          'Without a policy: the defaults. Empty if the Rollout names a policy that does not exist: then no pod is deleted until it exists.',
      }),
  })
  .meta({ id: 'Policy' })
/** @see policyReportSchema */
export type PolicyReport = Frozen<z.infer<typeof policyReportSchema>>
