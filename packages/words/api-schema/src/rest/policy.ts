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

/** Whether the policy of a Rollout is valid and usable, as the controller last reported in the status of the Rollout. */
export const policyStateSchema = z
  .object({
    valid: z.boolean().meta({ description: 'Whether the policy exists, can be read, and passes validation. If not, no pod is deleted.' }),
    usable: z.boolean().meta({
      description: 'Whether it is valid, its Secrets can be read, its hosts are allowed, and the installation allows what it asks for.',
    }),
    message: z.string().optional().meta({ description: 'Why it is not valid or not usable, with the fix. Absent if it is usable.' }),
  })
  .meta({ id: 'PolicyState' })
/** @see policyStateSchema */
export type PolicyState = Frozen<z.infer<typeof policyStateSchema>>

const unusablePartSchema = z.object({
  reason: z.string().meta({ description: 'Reason as in `status.unusable` of the ReleasePolicy, such as DrainNotAllowed.' }),
  message: z.string().meta({ description: 'What that means for a release, and the fix.' }),
  sentences: z.array(z.string()).meta({ description: 'What the policy asks for, and what is not in force.' }),
})

/** The release policy of a Rollout, in words. */
export const policyReportSchema = z
  .object({
    name: z.string().optional().meta({ description: 'Name of the ReleasePolicy. Absent if the Rollout names none.' }),
    found: z.boolean().meta({ description: 'Whether the ReleasePolicy exists.' }),
    state: policyStateSchema.optional().meta({ description: 'Absent before the controller has observed the policy.' }),
    sections: z
      .array(
        z.object({
          section: z.enum(policySections).meta({ description: 'Field of the policy that the sentences are about.' }),
          sentences: z.array(z.string()).meta({ description: 'Human-readable sentences, with the defaults of what the policy omits.' }),
          unusable: z.array(unusablePartSchema).optional().meta({
            description: 'Parts that the policy asks for and that the installation does not allow. `sentences` leaves them out.',
          }),
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
