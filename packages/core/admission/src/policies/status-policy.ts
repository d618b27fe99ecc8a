import { fieldManagers } from '@tranche/kube-types'
import { notOurs, type PolicyObject, type PolicyScope, validatingPolicy } from './policy-objects.ts'
import { rule } from './rollout-policies.ts'

/** CEL: all fields except the two that users may write are unchanged. */
const SAME_OTHERS = `[variables.before, variables.after].all(status, status.all(key, key == 'canaryStatus' || variables.before[?key] == variables.after[?key])) &&
[variables.canaryBefore, variables.canaryAfter].all(canary, canary.all(key, key in ['currentStepState', 'nextStepIndex'] || variables.canaryBefore[?key] == variables.canaryAfter[?key])) &&
has(variables.before.canaryStatus) == has(variables.after.canaryStatus)`

/** Matches status writes of other clients to a Rollout that Tranche reconciles. */
export const reconciledStatus = {
  operations: ['UPDATE'],
  group: 'rollouts.kruise.io',
  version: 'v1beta1',
  resource: 'rollouts/status',
  conditions: [
    {
      name: 'ours',
      expression: `oldObject.spec.workloadRef.kind == 'DaemonSet' && oldObject.spec.workloadRef.apiVersion.startsWith('apps/')`,
    },
    {
      name: 'reconciled-by-us',
      expression: 'has(oldObject.status) && (has(oldObject.status.stableRevision) || has(oldObject.status.releaseGeneration))',
    },
    {
      name: 'no-openkruise',
      expression: `!oldObject.status.?conditions.orValue([]).exists(condition, condition.type == 'Stalled' && condition.status == 'True' && condition.reason in ['OpenKruiseActive', 'PeerActive'])`,
    },
    notOurs([fieldManagers.controller, fieldManagers.executor]),
  ],
} as const satisfies Partial<PolicyScope>

/** Rejects status writes by users, except an approval or a jump. @see validateStatusChange */
export const statusPolicy: readonly PolicyObject[] = validatingPolicy(
  {
    name: 'rollout-status',
    ...reconciledStatus,
    variables: [
      { name: 'before', expression: 'dyn(oldObject.status)' },
      { name: 'after', expression: 'dyn(object.?status.orValue({}))' },
      { name: 'canaryBefore', expression: 'variables.before.?canaryStatus.orValue({})' },
      { name: 'canaryAfter', expression: 'variables.after.?canaryStatus.orValue({})' },
      { name: 'steps', expression: 'oldObject.spec.strategy.?canary.?steps.orValue([]).size()' },
    ],
  },
  'Deny',
  [
    rule(
      'StatusStepState',
      `variables.canaryAfter.?currentStepState == variables.canaryBefore.?currentStepState || variables.canaryAfter.?currentStepState.orValue('') == 'StepReady'`,
    ),
    rule(
      'StatusNextStep',
      'variables.canaryAfter.?nextStepIndex == variables.canaryBefore.?nextStepIndex || (variables.canaryAfter.?nextStepIndex.orValue(0) >= 1 && variables.canaryAfter.?nextStepIndex.orValue(0) <= variables.steps)',
    ),
    rule('StatusOthers', SAME_OTHERS),
  ],
)
