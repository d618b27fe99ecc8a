import {
  mutatingPolicyBindingStrategy,
  mutatingPolicyStrategy,
  validatingPolicyBindingStrategy,
  validatingPolicyStrategy,
} from '../strategies/admission-policy-strategies.ts'
import { mutatingWebhookStrategy, validatingWebhookStrategy } from '../strategies/webhook-strategies.ts'
import { clusterRoleBindingStrategy, clusterRoleStrategy, roleBindingStrategy, roleStrategy } from '../strategies/rbac-strategies.ts'
import { builtInMergeKeys } from './built-in-merge-keys.ts'
import { customResourceDefinitionStrategy } from '../strategies/custom-resource-definition-strategy.ts'
import { configMapStrategy, secretStrategy } from '../strategies/data-strategies.ts'
import { daemonSetStrategy } from '../strategies/daemon-set-strategy.ts'
import { deploymentStrategy, ingressStrategy, networkPolicyStrategy, serviceStrategy } from '../strategies/stored-strategies.ts'
import { podStrategy } from '../strategies/pod-strategy.ts'
import {
  limitRangeStrategy,
  podDisruptionBudgetStrategy,
  priorityClassStrategy,
  resourceQuotaStrategy,
} from '../strategies/policy-strategies.ts'
import type { ResourceDefinition, SchemaSource } from '../model/resource-definition.ts'
import {
  controllerRevisionStrategy,
  eventStrategy,
  leaseStrategy,
  namespaceStrategy,
  nodeStrategy,
  plainStrategy,
} from '../strategies/strategies.ts'

/** @returns built-in resources */
export function builtInResources(schemas: SchemaSource): readonly ResourceDefinition[] {
  return [
    builtIn({
      kind: 'Namespace',
      shortNames: ['ns'],
      namespaced: false,
      subresources: ['status', 'finalize'],
      strategy: namespaceStrategy,
    }),
    builtIn({ kind: 'Node', shortNames: ['no'], namespaced: false, subresources: ['status'], strategy: nodeStrategy }),
    builtIn({
      kind: 'Pod',
      shortNames: ['po'],
      categories: ['all'],
      subresources: ['status', 'binding', 'eviction'],
      strategy: podStrategy,
    }),
    builtIn({ kind: 'ConfigMap', shortNames: ['cm'], strategy: configMapStrategy }),
    builtIn({ kind: 'Secret', strategy: secretStrategy }),
    builtIn({ kind: 'ServiceAccount', shortNames: ['sa'], subresources: ['token'], strategy: plainStrategy }),
    builtIn({ kind: 'Event', shortNames: ['ev'], strategy: eventStrategy }),
    builtIn({
      group: 'apps',
      kind: 'DaemonSet',
      shortNames: ['ds'],
      categories: ['all'],
      subresources: ['status'],
      strategy: daemonSetStrategy,
    }),
    builtIn({
      group: 'apps',
      kind: 'Deployment',
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: ['status'],
      strategy: deploymentStrategy,
    }),
    builtIn({ kind: 'Service', shortNames: ['svc'], categories: ['all'], subresources: ['status'], strategy: serviceStrategy }),
    builtIn({
      group: 'networking.k8s.io',
      kind: 'NetworkPolicy',
      plural: 'networkpolicies',
      shortNames: ['netpol'],
      strategy: networkPolicyStrategy,
    }),
    builtIn({
      group: 'networking.k8s.io',
      kind: 'Ingress',
      plural: 'ingresses',
      shortNames: ['ing'],
      subresources: ['status'],
      strategy: ingressStrategy,
    }),
    builtIn({ group: 'apps', kind: 'ControllerRevision', strategy: controllerRevisionStrategy }),
    builtIn({ kind: 'ResourceQuota', shortNames: ['quota'], subresources: ['status'], strategy: resourceQuotaStrategy }),
    builtIn({ kind: 'LimitRange', shortNames: ['limits'], strategy: limitRangeStrategy }),
    builtIn({ group: 'coordination.k8s.io', kind: 'Lease', strategy: leaseStrategy }),
    builtIn({
      group: 'policy',
      kind: 'PodDisruptionBudget',
      shortNames: ['pdb'],
      subresources: ['status'],
      strategy: podDisruptionBudgetStrategy,
    }),
    builtIn({ group: 'rbac.authorization.k8s.io', kind: 'Role', strategy: roleStrategy }),
    builtIn({ group: 'rbac.authorization.k8s.io', kind: 'RoleBinding', strategy: roleBindingStrategy }),
    builtIn({ group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', namespaced: false, strategy: clusterRoleStrategy }),
    builtIn({ group: 'rbac.authorization.k8s.io', kind: 'ClusterRoleBinding', namespaced: false, strategy: clusterRoleBindingStrategy }),
    builtIn({
      group: 'admissionregistration.k8s.io',
      kind: 'MutatingWebhookConfiguration',
      categories: ['api-extensions'],
      namespaced: false,
      strategy: mutatingWebhookStrategy,
    }),
    builtIn({
      group: 'admissionregistration.k8s.io',
      kind: 'ValidatingWebhookConfiguration',
      categories: ['api-extensions'],
      namespaced: false,
      strategy: validatingWebhookStrategy,
    }),
    ...policyKinds.map((own) =>
      builtIn({ group: 'admissionregistration.k8s.io', categories: ['api-extensions'], namespaced: false, ...own }),
    ),
    builtIn({
      group: 'scheduling.k8s.io',
      kind: 'PriorityClass',
      plural: 'priorityclasses',
      shortNames: ['pc'],
      namespaced: false,
      strategy: priorityClassStrategy,
    }),
    builtIn({
      group: 'apiextensions.k8s.io',
      kind: 'CustomResourceDefinition',
      shortNames: ['crd', 'crds'],
      categories: ['api-extensions'],
      namespaced: false,
      subresources: ['status'],
      strategy: customResourceDefinitionStrategy(schemas),
    }),
  ]
}

const policyKinds = [
  { kind: 'MutatingAdmissionPolicy', plural: 'mutatingadmissionpolicies', strategy: mutatingPolicyStrategy },
  { kind: 'MutatingAdmissionPolicyBinding', strategy: mutatingPolicyBindingStrategy },
  {
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    subresources: ['status'],
    strategy: validatingPolicyStrategy,
  },
  { kind: 'ValidatingAdmissionPolicyBinding', strategy: validatingPolicyBindingStrategy },
] as const

function builtIn(own: Pick<ResourceDefinition, 'kind' | 'strategy'> & Partial<ResourceDefinition>): ResourceDefinition {
  const singular = own.kind.toLowerCase()
  return {
    group: '',
    version: 'v1',
    versions: ['v1'],
    listKind: `${own.kind}List`,
    plural: `${singular}s`,
    singular,
    shortNames: [],
    categories: [],
    namespaced: true,
    subresources: [],
    ...own,
    strategy: { ...own.strategy, mergeKeys: builtInMergeKeys(own.group ?? '', 'v1', own.kind) },
  }
}
