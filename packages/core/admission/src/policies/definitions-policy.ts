import { ALLOW_DELETE_ANNOTATION } from '@tranche/kube-types'
import type { PolicyObject } from './policy-objects.ts'

const NAME = 'definitions'
const definitions = ['rollouts.rollouts.kruise.io', 'batchreleases.rollouts.kruise.io', 'releasepolicies.tranche.dev']

/**
 * Rejects the deletion of the CustomResourceDefinitions, which would delete every Rollout of the cluster, unless they are annotated for it.
 * The uninstallation of another chart that has brought definitions of the same names is one such deletion.
 */
export const definitionsPolicy: readonly PolicyObject[] = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['apiextensions.k8s.io'],
            apiVersions: ['v1'],
            operations: ['DELETE'],
            resources: ['customresourcedefinitions'],
          },
        ],
      },
      // Not `resourceNames`: they compare with the name in the request, which is empty when a collection is deleted.
      matchConditions: [{ name: 'definitions', expression: `oldObject.metadata.name in ${JSON.stringify(definitions)}` }],
      validations: [
        {
          expression: `oldObject.metadata.?annotations.orValue({})[?'${ALLOW_DELETE_ANNOTATION}'].orValue('') == 'true'`,
          message: 'deleting this definition deletes all its objects',
          messageExpression: `'deleting this definition deletes all its objects; if you want that, run: kubectl annotate crd ' + oldObject.metadata.name + ' ${ALLOW_DELETE_ANNOTATION}=true'`,
          reason: 'Forbidden',
        },
      ],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: NAME },
    spec: { policyName: NAME, validationActions: ['Deny'] },
  },
]
