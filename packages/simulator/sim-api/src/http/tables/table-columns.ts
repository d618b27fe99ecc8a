import { valueIn } from '@tranche/kube-types'
import type { ApiObject, ResourceId } from '../../model/client.ts'
import { budgetText, quotaText, roleText, subjects } from './access-cells.ts'
import { labelsText, list, selectorText, text, textOrNone } from './cells.ts'
import { ageColumn, type Column, column, count, createdAtColumn, nameColumn, specOf, statusOf, wide } from './column.ts'
import { eventCount, eventSource, firstSeen, involvedObject, lastSeen } from './event-cells.ts'
import { kernelVersion, nodeAddress, nodeInfo, nodeRoles, nodeStatus } from './node-cells.ts'
import { podCells } from './pod-cells.ts'
import { objectOrEmpty } from '../../model/json.ts'

/** @returns columns of a built-in resource; name and creation time when it has none of its own */
export function builtinColumns({ group, resource }: ResourceId): readonly Column[] {
  return valueIn(columnsByResource, group === '' ? resource : `${resource}.${group}`) ?? [nameColumn, createdAtColumn]
}

function containersOf(daemonSet: ApiObject, field: string): string {
  const template = objectOrEmpty(objectOrEmpty(specOf(daemonSet)['template'])['spec'])
  return list(template['containers'])
    .map((container) => text(container[field]))
    .join(',')
}

function readinessGates(pod: ApiObject): string {
  const gates = list(specOf(pod)['readinessGates'])
  if (gates.length === 0) return '<none>'
  const conditions = list(statusOf(pod)['conditions'])
  const met = gates.filter((gate) =>
    conditions.some((condition) => condition['type'] === gate['conditionType'] && condition['status'] === 'True'),
  )
  return `${met.length}/${gates.length}`
}

function controllerText(object: ApiObject): string {
  const owner = object.metadata.ownerReferences?.find((reference) => reference.controller === true)
  if (owner === undefined) return '<none>'
  const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : ''
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`
}

const columnsByResource: Readonly<Record<string, readonly Column[]>> = {
  namespaces: [nameColumn, column('Status', (object) => text(statusOf(object)['phase'])), ageColumn],
  nodes: [
    nameColumn,
    column('Status', nodeStatus),
    column('Roles', nodeRoles),
    ageColumn,
    column('Version', (node) => text(objectOrEmpty(statusOf(node)['nodeInfo'])['kubeletVersion'])),
    wide('Internal-IP', nodeAddress('InternalIP')),
    wide('External-IP', nodeAddress('ExternalIP')),
    wide('OS-Image', nodeInfo('osImage')),
    wide('Kernel-Version', kernelVersion),
    wide('Container-Runtime', nodeInfo('containerRuntimeVersion')),
  ],
  pods: [
    nameColumn,
    column('Ready', (pod, nowMs) => podCells(pod, nowMs).ready),
    column('Status', (pod, nowMs) => podCells(pod, nowMs).status),
    column('Restarts', (pod, nowMs) => podCells(pod, nowMs).restarts),
    ageColumn,
    wide('IP', (pod) => textOrNone(list(statusOf(pod)['podIPs'])[0]?.['ip'] ?? statusOf(pod)['podIP'])),
    wide('Node', (pod) => textOrNone(specOf(pod)['nodeName'])),
    wide('Nominated Node', (pod) => textOrNone(statusOf(pod)['nominatedNodeName'])),
    wide('Readiness Gates', readinessGates),
  ],
  'daemonsets.apps': [
    nameColumn,
    count('Desired', 'desiredNumberScheduled'),
    count('Current', 'currentNumberScheduled'),
    count('Ready', 'numberReady'),
    count('Up-to-date', 'updatedNumberScheduled'),
    count('Available', 'numberAvailable'),
    column('Node Selector', (daemonSet) => labelsText(objectOrEmpty(objectOrEmpty(specOf(daemonSet)['template'])['spec'])['nodeSelector'])),
    ageColumn,
    wide('Containers', (daemonSet) => containersOf(daemonSet, 'name')),
    wide('Images', (daemonSet) => containersOf(daemonSet, 'image')),
    wide('Selector', (daemonSet) => selectorText(specOf(daemonSet)['selector'])),
  ],
  'controllerrevisions.apps': [
    nameColumn,
    column('Controller', controllerText),
    column('Revision', (object) => object['revision'], 'integer'),
    ageColumn,
  ],
  events: [
    column('Last Seen', lastSeen),
    column('Type', (event) => text(event['type'])),
    column('Reason', (event) => text(event['reason'])),
    column('Object', involvedObject),
    wide('Subobject', (event) => text(objectOrEmpty(event['involvedObject'])['fieldPath'])),
    wide('Source', eventSource),
    column('Message', (event) => text(event['message']).trim()),
    wide('First Seen', firstSeen),
    wide('Count', eventCount),
    { ...nameColumn, priority: 1 },
  ],
  'leases.coordination.k8s.io': [nameColumn, column('Holder', (lease) => text(specOf(lease)['holderIdentity'])), ageColumn],
  configmaps: [nameColumn, column('Data', dataCount), ageColumn],
  secrets: [nameColumn, column('Type', (secret) => text(secret['type'])), column('Data', dataCount), ageColumn],
  serviceaccounts: [nameColumn, ageColumn],
  resourcequotas: [nameColumn, column('Request', quotaText(false)), column('Limit', quotaText(true)), ageColumn],
  'poddisruptionbudgets.policy': [
    nameColumn,
    column('Min Available', (budget) => budgetText(specOf(budget)['minAvailable'])),
    column('Max Unavailable', (budget) => budgetText(specOf(budget)['maxUnavailable'])),
    count('Allowed Disruptions', 'disruptionsAllowed'),
    ageColumn,
  ],
  'rolebindings.rbac.authorization.k8s.io': bindingColumns(),
  'clusterrolebindings.rbac.authorization.k8s.io': bindingColumns(),
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': [nameColumn, column('Webhooks', webhookCount, 'integer'), ageColumn],
  'validatingwebhookconfigurations.admissionregistration.k8s.io': [nameColumn, column('Webhooks', webhookCount, 'integer'), ageColumn],
  'mutatingadmissionpolicies.admissionregistration.k8s.io': [
    nameColumn,
    column('Mutations', specCount('mutations'), 'integer'),
    column('ParamKind', paramKindText),
    ageColumn,
  ],
  'validatingadmissionpolicies.admissionregistration.k8s.io': [
    nameColumn,
    column('Validations', specCount('validations'), 'integer'),
    column('ParamKind', paramKindText),
    ageColumn,
  ],
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': policyBindingColumns(),
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': policyBindingColumns(),
  'priorityclasses.scheduling.k8s.io': [
    nameColumn,
    column('Value', (priorityClass) => priorityClass['value'] ?? 0, 'integer'),
    column('Global-Default', (priorityClass) => priorityClass['globalDefault'] === true, 'boolean'),
    ageColumn,
    wide('PreemptionPolicy', (priorityClass) => text(priorityClass['preemptionPolicy'])),
  ],
}

function bindingColumns(): readonly Column[] {
  return [
    nameColumn,
    column('Role', roleText),
    ageColumn,
    wide('Users', subjects('User')),
    wide('Groups', subjects('Group')),
    wide('ServiceAccounts', subjects('ServiceAccount')),
  ]
}

function webhookCount(configuration: ApiObject): number {
  return list(configuration['webhooks']).length
}

function policyBindingColumns(): readonly Column[] {
  return [nameColumn, column('PolicyName', (binding) => text(specOf(binding)['policyName'])), column('ParamRef', paramRefText), ageColumn]
}

function specCount(field: string): (object: ApiObject) => number {
  return (object) => list(specOf(object)[field]).length
}

function paramKindText(policy: ApiObject): string {
  const { apiVersion, kind } = objectOrEmpty(specOf(policy)['paramKind'])
  return kind === undefined ? '<unset>' : `${text(apiVersion)}/${text(kind)}`
}

function paramRefText(binding: ApiObject): string {
  const { name, namespace, selector } = objectOrEmpty(specOf(binding)['paramRef'])
  if (name !== undefined) return `${text(namespace ?? '*')}/${text(name)}`
  return selector === undefined ? '<unset>' : selectorText(selector)
}

function dataCount(object: ApiObject): number {
  return Object.keys(objectOrEmpty(object['data'])).length + Object.keys(objectOrEmpty(object['binaryData'])).length
}
