import type { BenchSet } from '../bench-set.ts'
import { dashboardRows } from '../dashboard-rows.ts'

/** The dashboard in Chromium. */
export const dashboardSet: BenchSet = {
  about: 'The dashboard in Chromium, against the REST API with a simulated cluster.',
  minutes: 12,
  isDefault: false,
  isReported: false,
  isExact: false,
  measure: ({ minutes }) => dashboardRows(minutes),
}
