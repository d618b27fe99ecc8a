import type { adviceRules } from './advice-rules.ts'
import { batchReleaseRules } from './batch-release-rules.ts'
import { daemonSetRules } from './daemon-set-rules.ts'
import type { installationRules } from './installation-rules.ts'
import { policyRules } from './policy-rules.ts'
import { rolloutRules } from './rollout-rules.ts'
import type { ProblemEntry } from './rule.ts'

/** Rules about every kind. */
const generalRules = {
  MoreProblems: {
    of: 'any',
    path: 'spec',
    says: 'the object has more problems than one check lists',
    fix: 'fix the listed ones, and check again',
    reason: 'InvalidSpec',
  },
} as const satisfies Record<string, ProblemEntry>

/** Every rule whose breach prevents a release. A code never changes its meaning; docs/reference/validation.md is generated from it. */
export const problemRules = { ...rolloutRules, ...batchReleaseRules, ...policyRules, ...daemonSetRules, ...generalRules }

/** Code of a rule whose breach is a problem. */
export type ProblemRule = keyof typeof problemRules
/** Code of a rule about what the installation allows. */
export type InstallationRule = keyof typeof installationRules
/** Code of a rule whose breach is advice. */
export type AdviceRule = keyof typeof adviceRules
