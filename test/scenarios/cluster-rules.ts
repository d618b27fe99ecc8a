import type { Stage } from './stage.ts'

const group = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const

/** A rule of the cluster's admission: requests that it covers must satisfy the expression. */
interface ClusterRule {
  readonly apiGroup: string
  readonly resource: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  /** In CEL. */
  readonly expression: string
  readonly message: string
}

/** The rule is in force from now on. */
export async function addRule(stage: Stage, { apiGroup, resource, operation, expression, message }: ClusterRule): Promise<void> {
  await stage.client.create({ ...group, plural: 'validatingadmissionpolicies' }, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'rule' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules: [{ apiGroups: [apiGroup], apiVersions: ['*'], operations: [operation], resources: [resource] }] },
      validations: [{ expression, message }],
    },
  } as never)
  await stage.client.create({ ...group, plural: 'validatingadmissionpolicybindings' }, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'rule' },
    spec: { policyName: 'rule', validationActions: ['Deny'] },
  } as never)
  await stage.pass(1_000)
}

/** The rule is gone. */
export async function removeRule(stage: Stage): Promise<void> {
  await stage.client.delete({ ...group, plural: 'validatingadmissionpolicybindings' }, { name: 'rule' } as never)
  await stage.pass(1_000)
}

/** A rule that came after v1 was released: it rejects the template of v1. */
export async function forbidV1(stage: Stage): Promise<void> {
  const expression = "!object.spec.template.spec.containers[0].image.endsWith(':v1')"
  await addRule(stage, { ...updates('apps', 'daemonsets'), expression, message: 'images with the tag v1 are forbidden' })
}

/** @returns the part of a rule that covers updates of a resource */
export function updates(apiGroup: string, resource: string): Pick<ClusterRule, 'apiGroup' | 'resource' | 'operation'> {
  return { apiGroup, resource, operation: 'UPDATE' }
}
