import { daemonSetAnnotations, WORKLOAD_TYPE_LABEL } from '@tranche/kube-types'
import { boundDaemonSets } from '../policies/daemon-set-policy.ts'
import { celList, type NamedExpression, type PolicyScope } from '../policies/policy-objects.ts'
import { judgedRollouts } from '../policies/rollout-policies.ts'
import { reconciledStatus } from '../policies/status-policy.ts'

/** Subject of a webhook; also the last part of its path. */
export type WebhookName = 'daemonsets' | 'reapply' | 'rollouts' | 'rollout-status'

/** A webhook for a configuration of `admissionregistration.k8s.io/v1`, without its address. */
export interface AdmissionWebhook {
  readonly name: WebhookName
  /** Kind of its configuration: only a mutating one may change the object. */
  readonly kind: 'Mutating' | 'Validating'
  /** Fields of the webhook, without `clientConfig`. */
  readonly webhook: Readonly<Record<string, unknown>> & { readonly name: string }
}

const { originalUpdateStrategy, inProgressing, controlInfo } = daemonSetAnnotations
const ourKeys = celList(Object.values(daemonSetAnnotations))
const label = `?labels[?'${WORKLOAD_TYPE_LABEL}']`

/** True where {@link admitBoundDaemonSet} has something to change; no other write waits for our webhook. */
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
 * Admission as webhooks, which the chart installs with `admission: webhook`. They match the same objects as the policies, with the
 * same expressions, so that the API server sends no other requests.
 *
 * Without a response, the first one rejects the write, because allowing it would start the native rollout that it prevents. The
 * others allow it: the controller also holds or corrects everything that they reject.
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
