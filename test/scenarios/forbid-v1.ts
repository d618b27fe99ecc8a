import type { Stage } from './stage.ts'

const group = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const

/** A rule of the cluster that came after v1 was released: it rejects the template of v1. */
export async function forbidV1(stage: Stage): Promise<void> {
  await stage.client.create({ ...group, plural: 'validatingadmissionpolicies' }, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'no-v1' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['daemonsets'] }],
      },
      validations: [
        { expression: "!object.spec.template.spec.containers[0].image.endsWith(':v1')", message: 'images with the tag v1 are forbidden' },
      ],
    },
  } as never)
  await stage.client.create({ ...group, plural: 'validatingadmissionpolicybindings' }, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'no-v1' },
    spec: { policyName: 'no-v1', validationActions: ['Deny'] },
  } as never)
  await stage.pass(1_000)
}

/** The rule is gone. */
export async function allowV1(stage: Stage): Promise<void> {
  await stage.client.delete({ ...group, plural: 'validatingadmissionpolicybindings' }, { name: 'no-v1' } as never)
  await stage.pass(1_000)
}
