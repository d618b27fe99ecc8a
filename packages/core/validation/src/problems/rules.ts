import type { adviceRules } from './advice-rules.ts'
import { batchReleaseRules } from './batch-release-rules.ts'
import { daemonSetRules } from './daemon-set-rules.ts'
import { policyRules } from './policy-rules.ts'
import { rolloutRules } from './rollout-rules.ts'

/** Every rule whose breach prevents a release. A code never changes its meaning; docs/reference/validation.md is generated from it. */
export const problemRules = { ...rolloutRules, ...batchReleaseRules, ...policyRules, ...daemonSetRules }

/** Code of a rule whose breach is a problem. */
export type ProblemRule = keyof typeof problemRules
/** Code of a rule whose breach is advice. */
export type AdviceRule = keyof typeof adviceRules
