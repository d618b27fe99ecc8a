export { adviceRules } from './problems/advice-rules.ts'
export { adviseConfig, advisePinnedConfig, type ImmutableConfig, toImmutableConfig } from './advise-config.ts'
export { adviseBatchRelease, adviseDaemonSet } from './advise-others.ts'
export { type AdviceSurroundings, adviseRollout } from './advise-rollout.ts'
export { checkBatchRelease, checkPolicy, checkRollout, type Checked, validatePolicy } from './check-object.ts'
export { checkDocuments, type Findings, type Surroundings } from './check-documents.ts'
export { type AnalysisArgument, analysisArguments } from './policy/arguments.ts'
export { compileCondition, type ConditionNames } from './policy/condition.ts'
export {
  configCopiesAdvice,
  downtimeAdvice,
  drainAdvice,
  groupAdvice,
  nodeLockAdvice,
  pinAdvice,
  podPolicyAdvice,
  prePullAdvice,
  roomAdvice,
  hostAdvice,
  type PolicyReferences,
  policyReferences,
  secretAdvice,
  type SecretLack,
  secretLackText,
  type SecretReference,
  type UrlReference,
} from './policy/policy-references.ts'
export { fillTemplate } from '@tranche/api-schema'
export { firstAdvice, MOST_FINDINGS } from './problems/bounded.ts'
export { installationRules } from './problems/installation-rules.ts'
export { type Advice, type Problem, problemBody, problemsText, problemText } from './problems/problem.ts'
export { shownValue } from './problems/shown-value.ts'
export { type AdviceRule, type InstallationRule, type ProblemRule, problemRules } from './problems/rules.ts'
export { resolveSize, resolveSteps, type Sized } from './fields/step-sizes.ts'
export { actionDigest, GENERATED_ID_PREFIX, type ParsedAction, parseAction, validateSettings } from './validate-annotations.ts'
export { validateBatchRelease } from './validate-batch-release.ts'
export { validateDaemonSetBudget } from './validate-budget.ts'
export { validateChange } from './validate-change.ts'
export { validateKeys } from './validate-keys.ts'
export { type RolloutSurroundings, validateRollout, validateSpec } from './validate-rollout.ts'
export { validateStatusChange } from './validate-status-change.ts'
export {
  comesBefore,
  conflictingRollouts,
  isDaemonSetRef,
  isSameWorkload,
  mayHold,
  validateBinding,
  workloadTaken,
} from './fields/workload.ts'
