import { onDeletePolicies } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import { adviceRules, problemRules } from '@tranche/validation'
import {
  celList,
  celText,
  type NamedExpression,
  type PolicyObject,
  type PolicyScope,
  type Validation,
  validatingPolicy,
} from './policy-objects.ts'

type RuleName = keyof typeof problemRules | keyof typeof adviceRules

const OURS = `object.spec.workloadRef.kind == 'DaemonSet' && object.spec.workloadRef.apiVersion.startsWith('apps/')`
const WAS_OURS = OURS.replaceAll('object', 'oldObject')
const settings = celList([rolloutAnnotations.releasePolicy, rolloutAnnotations.onDelete, rolloutAnnotations.rollbackInBatch])
const name = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const objectName = `^${name}([.]${name})*$`

/** Conditions for a check: an invalid Rollout may still change in fields that are not checked, and may be deleted. */
const judged: readonly NamedExpression[] = [
  { name: 'stays', expression: '!has(object.metadata.deletionTimestamp)' },
  {
    name: 'judged-again',
    expression: `oldObject == null || object.spec != oldObject.spec || ${settings}.exists(key, object.metadata.?annotations[?key] != oldObject.metadata.?annotations[?key])`,
  },
]

const rollouts = { operations: ['CREATE', 'UPDATE'], group: 'rollouts.kruise.io', version: 'v1beta1', resource: 'rollouts' } as const

const scope: PolicyScope = {
  name: 'rollouts',
  ...rollouts,
  conditions: [{ name: 'ours', expression: `(${OURS}) || (oldObject != null && ${WAS_OURS})` }, ...judged],
  variables: [
    { name: 'ours', expression: OURS },
    { name: 'ref', expression: 'object.spec.workloadRef' },
    { name: 'canary', expression: 'object.spec.strategy.?canary.orValue({})' },
    { name: 'steps', expression: 'variables.canary.?steps.orValue([])' },
    { name: 'sizes', expression: 'variables.steps.filter(step, has(step.replicas)).map(step, step.replicas)' },
    { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
    {
      name: 'busy',
      expression: `oldObject != null && ${WAS_OURS} && oldObject.?status.?phase.orValue('') in ['Progressing', 'Terminating', 'Disabling']`,
    },
  ],
}

const size = (value: string): string => `(type(${value}) == int ? int(${value}) >= 1 : string(${value}).matches('^0*([1-9][0-9]?|100)%$'))`
const sorted = (numbers: string): string => `variables.steps.exists(step, has(step.nodes)) || ${numbers}.isSorted()`

/** Rules that CEL can express. The others need other Rollouts or parse JSON: the controller reports them in the status. */
const denied: readonly Validation[] = [
  rule('WorkloadVersion', `variables.ref.apiVersion == 'apps/v1'`),
  rule('WorkloadName', `variables.ref.name.size() <= 253 && variables.ref.name.matches('${objectName}')`),
  rule('StepsMissing', '!has(object.spec.strategy.canary) || variables.steps.size() > 0'),
  ruleOfSteps('StepSize', `has(step.replicas) ? ${size('step.replicas')} : has(step.nodes)`),
  ruleOfSizes('StepShrinks', sorted('variables.sizes.filter(size, type(size) == int).map(size, int(size))')),
  ruleOfSizes(
    'StepShrinks',
    sorted(
      `variables.sizes.filter(size, type(size) == string && string(size).matches('^[0-9]{1,9}%$')).map(size, int(string(size).replace('%', '')))`,
    ),
  ),
  ruleOfSteps('PauseNegative', 'step.?pause.?duration.orValue(0) >= 0'),
  ruleOfSteps('StepTraffic', '!has(step.traffic)'),
  ruleOfSteps('StepHeaders', '!has(step.requestHeaderModifier)'),
  ruleOfSteps('StepMatches', '!has(step.matches)'),
  rule('TrafficRoutings', 'variables.canary.?trafficRoutings.orValue([]).size() == 0'),
  rule('TrafficRoutingRef', `variables.canary.?trafficRoutingRef.orValue('') == ''`),
  rule('TemplateMetadata', '!has(variables.canary.patchPodTemplateMetadata)'),
  rule(
    'FailureThreshold',
    `!has(variables.canary.failureThreshold) || (type(variables.canary.failureThreshold) == int ? int(variables.canary.failureThreshold) >= 0 : string(variables.canary.failureThreshold).matches('^0*([0-9][0-9]?|100)%$'))`,
  ),
  rule(
    'PolicyName',
    setting(rolloutAnnotations.releasePolicy, (value) => `${value}.size() <= 253 && ${value}.matches('${objectName}')`),
  ),
  rule(
    'OnDelete',
    setting(rolloutAnnotations.onDelete, (value) => `${value} in ${celList(onDeletePolicies)}`),
  ),
  rule(
    'RollbackInBatch',
    setting(rolloutAnnotations.rollbackInBatch, (value) => `${value} in ['true', 'false']`),
  ),
].map((one) => ({ ...one, expression: `!variables.ours || (${one.expression})` }))

const changes: readonly Validation[] = [
  rule(
    'WorkloadFrozen',
    `!variables.busy || (variables.ref.kind == oldObject.spec.workloadRef.kind && variables.ref.name == oldObject.spec.workloadRef.name && variables.ref.apiVersion.split('/')[0] == oldObject.spec.workloadRef.apiVersion.split('/')[0])`,
  ),
  rule(
    'StepsFrozen',
    '!variables.busy || !variables.ours || variables.steps.size() == oldObject.spec.strategy.?canary.?steps.orValue([]).size()',
  ),
]

/** Matches Rollouts that are new or change a checked field. */
export const judgedRollouts = { ...rollouts, conditions: judged } as const satisfies Partial<PolicyScope>

/** Rejects invalid Rollouts of DaemonSets, by the rules of docs/reference/validation.md that the schema does not cover. */
export const rolloutPolicy: readonly PolicyObject[] = validatingPolicy(scope, 'Deny', [...denied, ...changes])

/** Warns of Rollouts that Tranche ignores, and gives advice. */
export const rolloutAdvicePolicy: readonly PolicyObject[] = validatingPolicy(
  {
    name: 'rollout-advice',
    ...judgedRollouts,
    variables: scope.variables.filter(({ name: variable }) => ['ours', 'canary', 'steps', 'sizes'].includes(variable)),
  },
  'Warn',
  [
    rule('OtherWorkload', 'variables.ours'),
    atStep(
      'LastStepBelowAll',
      'variables.steps.size() - 1',
      `!variables.ours || variables.steps.exists(step, has(step.nodes)) || variables.sizes.size() == 0 || type(variables.sizes[variables.sizes.size() - 1]) == int || variables.sizes[variables.sizes.size() - 1] == '100%'`,
    ),
    rule('ExtraWorkload', '!variables.ours || !variables.canary.?enableExtraWorkloadForCanary.orValue(false)'),
    rule('CanaryService', '!variables.ours || !variables.canary.?disableGenerateCanaryService.orValue(false)'),
  ],
)

/** Validation with the text of the rule, without the value: an expression yields only true or false. */
export function rule(ruleName: RuleName, expression: string): Validation {
  const { path, says, fix } = { ...problemRules, ...adviceRules }[ruleName]
  return { expression, message: `${path}: ${says}; ${fix}` }
}

/** Validation of an expression about each `step`; the message names the first step that breaks it. */
function ruleOfSteps(ruleName: RuleName, ofStep: string): Validation {
  return atStep(ruleName, `variables.steps.map(step, ${ofStep}).indexOf(false)`, `variables.steps.all(step, ${ofStep})`)
}

/** Validation with the text of the rule and the index of a step as a CEL expression. */
function atStep(ruleName: RuleName, step: string, expression: string): Validation {
  const [before = '', ...after] = rule(ruleName, expression).message.split('steps[i]')
  return {
    ...rule(ruleName, expression),
    messageExpression: `${celText(`${before}steps[`)} + string(${step}) + ${celText(`]${after.join('steps[i]')}`)}`,
  }
}

/** Validation of sizes against each other; the message lists all of them, since no single one is wrong. */
function ruleOfSizes(ruleName: RuleName, expression: string): Validation {
  const { message } = rule(ruleName, expression)
  const [path = '', ...words] = message.split(': ')
  const sizes = "variables.sizes.map(size, string(size)).join(', ')"
  return {
    expression,
    message,
    messageExpression: `${celText(`${path.replace('[i]', '[*]')} are `)} + ${sizes} + ${celText(`: ${words.join(': ')}`)}`,
  }
}

function setting(annotation: string, isRight: (value: string) => string): string {
  return `!('${annotation}' in variables.annotations) || (${isRight(`variables.annotations['${annotation}']`)})`
}
