import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { moment } from './fields.ts'

/** Checks of `tranche doctor` and of the Doctor page, in order. */
export const doctorChecks = [
  'server',
  'resources',
  'rights',
  'accounts',
  'controller',
  'left',
  'policies',
  'config',
  'clock',
  'openkruise',
  'admission',
  'webhook',
  'executor',
  'versions',
  'redis',
] as const
/** @see doctorChecks */
export type DoctorCheck = (typeof doctorChecks)[number]

const doctorFindingSchema = z.object({
  check: z.enum(doctorChecks).meta({ description: 'Name of the check. Some checks have several findings, or none.' }),
  state: z
    .enum(['ok', 'note', 'problem', 'unknown'])
    .meta({ description: '`unknown`: the check was not possible, such as without a right.' }),
  message: z.string().meta({ description: 'Result as a sentence without a full stop.' }),
  fix: z.string().optional().meta({ description: 'Suggested fix. Absent if there is nothing to do.' }),
  command: z.string().optional().meta({ description: 'Command line that completes the fix, which then ends in a colon.' }),
})
/** Result of one check. */
export type DoctorFinding = Frozen<z.infer<typeof doctorFindingSchema>>

/** Findings about the prerequisites of the cluster. */
export const doctorReportSchema = z
  .object({
    checkedAt: moment().meta({ description: 'Time of the checks.' }),
    items: z.array(doctorFindingSchema),
  })
  .meta({ id: 'DoctorReport' })
/** @see doctorReportSchema */
export type DoctorReport = Frozen<z.infer<typeof doctorReportSchema>>
