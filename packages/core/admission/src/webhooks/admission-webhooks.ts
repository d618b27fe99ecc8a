import { daemonSetAnnotations, WORKLOAD_TYPE_LABEL } from '@tranche/kube-types'
import { boundDaemonSets } from '../policies/daemon-set-policy.ts'
import { celList, type NamedExpression, type PolicyScope } from '../policies/policy-objects.ts'
import { judgedRollouts } from '../policies/rollout-policies.ts'
import { reconciledStatus } from '../policies/status-policy.ts'

/** What a webhook of ours is asked about; also the last part of its path. */
export type WebhookName = 'daemonsets' | 'reapply' | 'rollouts' | 'rollout-status'

/** One of our webhooks as a configuration of `admissionregistration.k8s.io/v1` has it, but for where it is reached. */
export interface AdmissionWebhook {
  readonly name: WebhookName
  /** Which kind of configuration it stands in: only a mutating one may change the object. */
  readonly kind: 'Mutating' | 'Validating'
  /** Fields of the webhook, without `clientConfig`. */
  readonly webhook: Readonly<Record<string, unknown>> & { readonly name: string }
}

const { originalUpdateStrategy, inProgressing, controlInfo } = daemonSetAnnotations
const ourKeys = celList(Object.values(daemonSetAnnotations))
const label = `?labels[?'${WORKLOAD_TYPE_LABEL}']`

/** True where {@link admitBoundDaemonSet} has something to change: whatever else is written waits for nobody of ours. */
const touchesTheRelease: NamedExpression = {
  name: 'touches-the-release',
  expression: [
    'object.spec.template != oldObject.spec.template',
    `(${celList([originalUpdateStrategy, inProgressing, controlInfo])}.exists(key, key in oldObject.metadata.annotations) && object.spec.?updateStrategy.?type.orValue('RollingUpdate') != 'OnDelete')`,
    `${ourKeys}.exists(key, key in oldObject.metadata.annotations && object.metadata.?annotations[?key] != oldObject.metadata.?annotations[?key])`,
    `(oldObject.metadata.${label}.hasValue() && object.metadata.${label} != oldObject.metadata.${label})`,
  ].join(' ||\n'),
}
const newTemplate: NamedExpression = { name: 'new-template', expression: 'object.spec.template != oldObject.spec.template' }

/**
 * Our admission as webhooks: what the chart installs with `admission: webhook`. They look at what the policies look at, in the same
 * words; only what the API server need not ask us about is left out by them as well.
 *
 * Without an answer of ours the first one refuses the write, for to let it through would start the native rollout that it is there to
 * prevent. The others let it through: what they refuse, the controller holds or puts right as well.
 */
export const admissionWebhooks: readonly AdmissionWebhook[] = [
  webhookOf('daemonsets', 'Mutating', {
    ...matching(boundDaemonSets, touchesTheRelease),
    failurePolicy: 'Fail',
    reinvocationPolicy: 'IfNeeded',
    timeoutSeconds: 5,
  }),
  webhookOf('reapply', 'Validating', { ...matching(boundDaemonSets, newTemplate), failurePolicy: 'Ignore', timeoutSeconds: 5 }),
  webhookOf('rollouts', 'Validating', { ...matching(judgedRollouts), failurePolicy: 'Ignore', timeoutSeconds: 5 }),
  webhookOf('rollout-status', 'Validating', { ...matching(reconciledStatus), failurePolicy: 'Ignore', timeoutSeconds: 5 }),
]

function webhookOf(name: WebhookName, kind: AdmissionWebhook['kind'], fields: Readonly<Record<string, unknown>>): AdmissionWebhook {
  const common = { admissionReviewVersions: ['v1'], sideEffects: 'None' }
  return { name, kind, webhook: { name: `${name}.admission.tranche.dev`, ...fields, ...common } }
}

function matching(
  { operations, group, version, resource, labels, conditions }: Omit<PolicyScope, 'name' | 'variables'>,
  ...more: readonly NamedExpression[]
): object {
  return {
    rules: [{ apiGroups: [group], apiVersions: [version], operations, resources: [resource], scope: 'Namespaced' }],
    ...(labels && { objectSelector: { matchLabels: labels } }),
    matchConditions: [...conditions, ...more],
  }
}
