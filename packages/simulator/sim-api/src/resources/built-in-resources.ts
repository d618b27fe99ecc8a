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
  const kinds: readonly OwnFields[] = [
    ...coreKinds,
    ...workloadKinds,
    ...quotaKinds,
    { group: 'coordination.k8s.io', kind: 'Lease', strategy: leaseStrategy },
    {
      group: 'policy',
      kind: 'PodDisruptionBudget',
      shortNames: ['pdb'],
      subresources: ['status'],
      strategy: podDisruptionBudgetStrategy,
    },
    ...accessKinds,
    ...admissionKinds,
    {
      group: 'scheduling.k8s.io',
      kind: 'PriorityClass',
      plural: 'priorityclasses',
      shortNames: ['pc'],
      namespaced: false,
      strategy: priorityClassStrategy,
    },
    {
      group: 'apiextensions.k8s.io',
      kind: 'CustomResourceDefinition',
      shortNames: ['crd', 'crds'],
      categories: ['api-extensions'],
      namespaced: false,
      subresources: ['status'],
      strategy: customResourceDefinitionStrategy(schemas),
    },
  ]
  return kinds.map(builtIn)
}

/** What distinguishes a kind; the other fields follow from its name. */
type OwnFields = Pick<ResourceDefinition, 'kind' | 'strategy'> & Partial<ResourceDefinition>

const coreKinds: readonly OwnFields[] = [
  {
    kind: 'Namespace',
    shortNames: ['ns'],
    namespaced: false,
    subresources: ['status', 'finalize'],
    strategy: namespaceStrategy,
  },
  { kind: 'Node', shortNames: ['no'], namespaced: false, subresources: ['status'], strategy: nodeStrategy },
  {
    kind: 'Pod',
    shortNames: ['po'],
    categories: ['all'],
    subresources: ['status', 'binding', 'eviction'],
    strategy: podStrategy,
  },
  { kind: 'ConfigMap', shortNames: ['cm'], strategy: configMapStrategy },
  { kind: 'Secret', strategy: secretStrategy },
  { kind: 'ServiceAccount', shortNames: ['sa'], subresources: ['token'], strategy: plainStrategy },
  { kind: 'Event', shortNames: ['ev'], strategy: eventStrategy },
  { kind: 'PersistentVolume', shortNames: ['pv'], namespaced: false, strategy: plainStrategy },
  { kind: 'PersistentVolumeClaim', shortNames: ['pvc'], strategy: plainStrategy },
]

const workloadKinds: readonly OwnFields[] = [
  {
    group: 'apps',
    kind: 'DaemonSet',
    shortNames: ['ds'],
    categories: ['all'],
    subresources: ['status'],
    strategy: daemonSetStrategy,
  },
  {
    group: 'apps',
    kind: 'Deployment',
    shortNames: ['deploy'],
    categories: ['all'],
    subresources: ['status'],
    strategy: deploymentStrategy,
  },
  { kind: 'Service', shortNames: ['svc'], categories: ['all'], subresources: ['status'], strategy: serviceStrategy },
  {
    group: 'networking.k8s.io',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    shortNames: ['netpol'],
    strategy: networkPolicyStrategy,
  },
  {
    group: 'networking.k8s.io',
    kind: 'Ingress',
    plural: 'ingresses',
    shortNames: ['ing'],
    subresources: ['status'],
    strategy: ingressStrategy,
  },
  { group: 'apps', kind: 'ControllerRevision', strategy: controllerRevisionStrategy },
]

const quotaKinds: readonly OwnFields[] = [
  { kind: 'ResourceQuota', shortNames: ['quota'], subresources: ['status'], strategy: resourceQuotaStrategy },
  { kind: 'LimitRange', shortNames: ['limits'], strategy: limitRangeStrategy },
]

const accessKinds: readonly OwnFields[] = [
  { group: 'rbac.authorization.k8s.io', kind: 'Role', strategy: roleStrategy },
  { group: 'rbac.authorization.k8s.io', kind: 'RoleBinding', strategy: roleBindingStrategy },
  { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', namespaced: false, strategy: clusterRoleStrategy },
  { group: 'rbac.authorization.k8s.io', kind: 'ClusterRoleBinding', namespaced: false, strategy: clusterRoleBindingStrategy },
]

const admissionKinds = (
  [
    { kind: 'MutatingWebhookConfiguration', strategy: mutatingWebhookStrategy },
    { kind: 'ValidatingWebhookConfiguration', strategy: validatingWebhookStrategy },
    { kind: 'MutatingAdmissionPolicy', plural: 'mutatingadmissionpolicies', strategy: mutatingPolicyStrategy },
    { kind: 'MutatingAdmissionPolicyBinding', strategy: mutatingPolicyBindingStrategy },
    {
      kind: 'ValidatingAdmissionPolicy',
      plural: 'validatingadmissionpolicies',
      subresources: ['status'],
      strategy: validatingPolicyStrategy,
    },
    { kind: 'ValidatingAdmissionPolicyBinding', strategy: validatingPolicyBindingStrategy },
  ] satisfies readonly OwnFields[]
).map((own): OwnFields => ({ group: 'admissionregistration.k8s.io', categories: ['api-extensions'], namespaced: false, ...own }))

function builtIn(own: OwnFields): ResourceDefinition {
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
