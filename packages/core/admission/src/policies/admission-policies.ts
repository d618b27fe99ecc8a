import { daemonSetPolicy } from './daemon-set-policy.ts'
import { reapplyPolicy } from './reapply-policy.ts'
import type { PolicyObject } from './policy-objects.ts'
import { rolloutAdvicePolicy, rolloutPolicy } from './rollout-policies.ts'
import { statusPolicy } from './status-policy.ts'

/**
 * Our admission as policies that the API server evaluates: what the chart installs with `admission: policy`, under names that
 * begin with the name of the installation.
 */
export const admissionPolicies: readonly PolicyObject[] = [
  ...daemonSetPolicy,
  ...reapplyPolicy,
  ...rolloutPolicy,
  ...rolloutAdvicePolicy,
  ...statusPolicy,
]
