import type { ApiObject, ResourceId } from '../client.ts'
import { labelsText, list, record, selectorText, text, textOrNone } from './cells.ts'
import { age } from './human-duration.ts'
import { podCells } from './pod-cells.ts'

/** One column of a Table. `priority` 0 is always shown, 1 with `-o wide`. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly priority: 0 | 1
  cell(object: ApiObject, nowMs: number): unknown
}

/** @returns the columns of a resource that the server knows by itself; name and age for one without columns of its own */
export function builtinColumns({ group, resource }: ResourceId): readonly Column[] {
  return columnsByResource[group === '' ? resource : `${resource}.${group}`] ?? [nameColumn, ageColumn]
}

/** Every table begins with it. */
export const nameColumn: Column = { ...column('Name', (object) => object.metadata.name), format: 'name' }

/** Time since creation. */
export const ageColumn: Column = column('Age', (object, nowMs) => age(object.metadata.creationTimestamp, nowMs))

/** @returns a column of text, always shown */
function column(name: string, cell: Column['cell'], type = 'string'): Column {
  return { name, type, priority: 0, cell }
}

function wide(name: string, cell: Column['cell']): Column {
  return { name, type: 'string', priority: 1, cell }
}

function count(name: string, field: string): Column {
  return column(name, (object) => record(object['status'])[field] ?? 0, 'integer')
}

function spec(object: ApiObject): Readonly<Record<string, unknown>> {
  return record(object['spec'])
}

function status(object: ApiObject): Readonly<Record<string, unknown>> {
  return record(object['status'])
}

function nodeStatus(node: ApiObject): string {
  const ready = list(status(node)['conditions']).find((condition) => condition['type'] === 'Ready')?.['status']
  const word = ready === 'True' ? 'Ready' : ready === undefined ? 'Unknown' : 'NotReady'
  return spec(node)['unschedulable'] === true ? `${word},SchedulingDisabled` : word
}

function nodeRoles(node: ApiObject): string {
  const prefix = 'node-role.kubernetes.io/'
  const labels = Object.keys(node.metadata.labels ?? {}).filter((label) => label.startsWith(prefix))
  return (
    labels
      .map((label) => label.slice(prefix.length))
      .sort()
      .join(',') || '<none>'
  )
}

function nodeAddress(type: string): Column['cell'] {
  return (node) => textOrNone(list(status(node)['addresses']).find((address) => address['type'] === type)?.['address'])
}

function nodeInfo(field: string): Column['cell'] {
  return (node) => text(record(status(node)['nodeInfo'])[field]) || '<unknown>'
}

function containersOf(daemonSet: ApiObject, field: string): string {
  const template = record(record(spec(daemonSet)['template'])['spec'])
  return list(template['containers'])
    .map((container) => text(container[field]))
    .join(',')
}

function readinessGates(pod: ApiObject): string {
  const gates = list(spec(pod)['readinessGates'])
  if (gates.length === 0) return '<none>'
  const conditions = list(status(pod)['conditions'])
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

/** When an event was last seen, from whichever field its reporter filled in. */
function lastSeen(event: ApiObject): unknown {
  return record(event['series'])['lastObservedTime'] ?? event['lastTimestamp'] ?? event['eventTime'] ?? event.metadata.creationTimestamp
}

function involvedObject(event: ApiObject): string {
  const involved = record(event['involvedObject'])
  return `${text(involved['kind']).toLowerCase()}/${text(involved['name'])}`
}

function eventSource(event: ApiObject): string {
  const source = record(event['source'])
  const component = text(source['component']) || text(event['reportingComponent'])
  return [component, text(source['host'])].filter((part) => part !== '').join(', ')
}

const columnsByResource: Readonly<Record<string, readonly Column[]>> = {
  namespaces: [nameColumn, column('Status', (object) => text(status(object)['phase'])), ageColumn],
  nodes: [
    nameColumn,
    column('Status', nodeStatus),
    column('Roles', nodeRoles),
    ageColumn,
    column('Version', (node) => text(record(status(node)['nodeInfo'])['kubeletVersion'])),
    wide('Internal-IP', nodeAddress('InternalIP')),
    wide('External-IP', nodeAddress('ExternalIP')),
    wide('OS-Image', nodeInfo('osImage')),
    wide('Kernel-Version', nodeInfo('kernelVersion')),
    wide('Container-Runtime', nodeInfo('containerRuntimeVersion')),
  ],
  pods: [
    nameColumn,
    column('Ready', (pod, nowMs) => podCells(pod, nowMs).ready),
    column('Status', (pod, nowMs) => podCells(pod, nowMs).status),
    column('Restarts', (pod, nowMs) => podCells(pod, nowMs).restarts),
    ageColumn,
    wide('IP', (pod) => textOrNone(status(pod)['podIP'])),
    wide('Node', (pod) => textOrNone(spec(pod)['nodeName'])),
    wide('Nominated Node', (pod) => textOrNone(status(pod)['nominatedNodeName'])),
    wide('Readiness Gates', readinessGates),
  ],
  'daemonsets.apps': [
    nameColumn,
    count('Desired', 'desiredNumberScheduled'),
    count('Current', 'currentNumberScheduled'),
    count('Ready', 'numberReady'),
    count('Up-to-date', 'updatedNumberScheduled'),
    count('Available', 'numberAvailable'),
    column('Node Selector', (daemonSet) => labelsText(record(record(spec(daemonSet)['template'])['spec'])['nodeSelector'])),
    ageColumn,
    wide('Containers', (daemonSet) => containersOf(daemonSet, 'name')),
    wide('Images', (daemonSet) => containersOf(daemonSet, 'image')),
    wide('Selector', (daemonSet) => selectorText(spec(daemonSet)['selector'])),
  ],
  'controllerrevisions.apps': [
    nameColumn,
    column('Controller', controllerText),
    column('Revision', (object) => object['revision'], 'integer'),
    ageColumn,
  ],
  events: [
    column('Last Seen', (event, nowMs) => age(lastSeen(event), nowMs)),
    column('Type', (event) => text(event['type'])),
    column('Reason', (event) => text(event['reason'])),
    column('Object', involvedObject),
    wide('Subobject', (event) => text(record(event['involvedObject'])['fieldPath'])),
    wide('Source', eventSource),
    column('Message', (event) => text(event['message']).trim()),
    wide('First Seen', (event, nowMs) => age(event['firstTimestamp'] ?? event['eventTime'] ?? event.metadata.creationTimestamp, nowMs)),
    wide('Count', (event) => String(record(event['series'])['count'] ?? event['count'] ?? 1)),
    { ...nameColumn, priority: 1 },
  ],
  'leases.coordination.k8s.io': [nameColumn, column('Holder', (lease) => text(spec(lease)['holderIdentity'])), ageColumn],
  configmaps: [nameColumn, column('Data', dataCount, 'integer'), ageColumn],
  secrets: [nameColumn, column('Type', (secret) => text(secret['type'])), column('Data', dataCount, 'integer'), ageColumn],
  serviceaccounts: [nameColumn, column('Secrets', (account) => list(account['secrets']).length, 'integer'), ageColumn],
  'customresourcedefinitions.apiextensions.k8s.io': [nameColumn, column('Created At', (object) => object.metadata.creationTimestamp)],
}

function dataCount(object: ApiObject): number {
  return Object.keys(record(object['data'])).length + Object.keys(record(object['binaryData'])).length
}
