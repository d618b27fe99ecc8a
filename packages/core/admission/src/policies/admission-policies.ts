import { daemonSetPolicy } from './daemon-set-policy.ts'
import { reapplyPolicy } from './reapply-policy.ts'
import type { PolicyObject } from './policy-objects.ts'
import { rolloutAdvicePolicy, rolloutPolicy } from './rollout-policies.ts'
import { statusPolicy } from './status-policy.ts'

/**
 * Admission as policies that the API server evaluates. The chart installs them with `admission: policy`, with the name of the
 * installation as prefix of their names.
 */
export const admissionPolicies: readonly PolicyObject[] = [
  ...daemonSetPolicy,
  ...reapplyPolicy,
  ...rolloutPolicy,
  ...rolloutAdvicePolicy,
  ...statusPolicy,
]
