import type { DoctorCheck, DoctorFinding } from '@tranche/api-schema'
import { type Denied, deniedText } from '../signs/guarded-reads.ts'

/** @returns the finding of a check that was not possible, with the missing right */
export function notLookedAt(check: DoctorCheck, denied: Denied): DoctorFinding {
  return { check, state: 'unknown', message: deniedText(denied) }
}
