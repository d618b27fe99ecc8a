import type { ApiObject } from '../model/client.ts'
import { jsonEqual, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import type { StatusCause } from '../model/status-error.ts'
import { duplicate, invalid, notSupported, required } from '../model/field-errors.ts'
import type { Strategy } from '../model/resource-definition.ts'

/** Objects without a strategy of their own. */
export const plainStrategy: Strategy = {
  selectableFields: {},
  hasGeneration: false,
  allowUnconditionalUpdate: true,
  allowCreateOnUpdate: false,
  mergeKeys: null,
  defaults: (object) => object,
  prepareCreate: (object) => object,
  prepareUpdate: (object) => object,
  validate: () => [],
  validateUpdate: () => [],
}

/** Namespaces: the name as a label, a phase, and a finalizer that keeps them until their content is gone. */
export const namespaceStrategy: Strategy = {
  ...plainStrategy,
  selectableFields: { 'status.phase': (object) => String(objectOrEmpty(object['status'])['phase'] ?? '') },
  prepareCreate: (object) => ({ ...withNameLabel(object), spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
  prepareUpdate: (object, old) => ({ ...withNameLabel(object), spec: old['spec'] }),
  prepareDeletion: (object) => ({ ...object, status: { ...objectOrEmpty(object['status']), phase: 'Terminating' } }),
  isKept: (object) => listOrEmpty(objectOrEmpty(object['spec'])['finalizers']).length > 0,
}

/** Nodes: selectable by `spec.unschedulable`; a creator may set the status. */
export const nodeStrategy: Strategy = {
  ...plainStrategy,
  selectableFields: { 'spec.unschedulable': (object) => String(objectOrEmpty(object['spec'])['unschedulable'] ?? false) },
  validate: (object) => listOrEmpty(objectOrEmpty(object['spec'])['taints']).flatMap(taintCauses),
}

/** Events: selectable by their object, whose namespace they share. */
export const eventStrategy: Strategy = {
  ...plainStrategy,
  allowCreateOnUpdate: true,
  validate: eventCauses,
  selectableFields: {
    ...Object.fromEntries(
      ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => [
        `involvedObject.${field}`,
        (object: ApiObject) => String(objectOrEmpty(object['involvedObject'])[field] ?? ''),
      ]),
    ),
    reason: (object) => String(object['reason'] ?? ''),
    type: (object) => String(object['type'] ?? ''),
    source: (object) => String(objectOrEmpty(object['source'])['component'] ?? ''),
    reportingComponent: (object) => String(object['reportingComponent'] ?? ''),
  },
}

/** ControllerRevisions: `data` is stored unchanged and immutable; the revision number may change. */
export const controllerRevisionStrategy: Strategy = {
  ...plainStrategy,
  validate: controllerRevisionCauses,
  validateUpdate: (object, old) => (jsonEqual(object['data'], old['data']) ? [] : [invalid('data', '', 'field is immutable')]),
}

/** Leases: a PUT creates one, or replaces one of a known version, so that two holders cannot both succeed. */
export const leaseStrategy: Strategy = {
  ...plainStrategy,
  allowUnconditionalUpdate: false,
  allowCreateOnUpdate: true,
  validate: leaseCauses,
}

function withNameLabel(object: ApiObject): ApiObject {
  const { metadata } = object
  const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name }
  return jsonEqual(labels, metadata.labels) ? object : { ...object, metadata: { ...metadata, labels } }
}

/** The API server uses this field name in messages, although the field is in the spec. */
function taintCauses(taint: unknown, index: number, taints: readonly unknown[]): readonly StatusCause[] {
  const field = `metadata.taints[${index}]`
  const { key, effect } = objectOrEmpty(taint)
  const isSame = (other: unknown): boolean => objectOrEmpty(other)['key'] === key && objectOrEmpty(other)['effect'] === effect
  return [
    ...(key ? [] : [required(`${field}.key`)]),
    ...(effect ? [] : [required(`${field}.effect`)]),
    ...(effect && !EFFECTS.includes(String(effect)) ? [notSupported(`${field}.effect`, effect, EFFECTS)] : []),
    ...(taints.findIndex(isSame) < index ? [duplicate(field, taint)] : []),
  ]
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Events about cluster-scoped objects are in namespace `default`. */
function eventCauses({ metadata, involvedObject }: ApiObject): readonly StatusCause[] {
  const { namespace = '' } = objectOrEmpty(involvedObject)
  const isBeside = namespace === '' ? metadata.namespace === 'default' : metadata.namespace === namespace
  return isBeside ? [] : [invalid('involvedObject.namespace', namespace, 'does not match event.namespace')]
}

function controllerRevisionCauses(object: ApiObject): readonly StatusCause[] {
  const { data, revision = 0 } = object
  return [
    ...(data === undefined || data === null ? [required('data', 'data is mandatory')] : []),
    ...(typeof revision === 'number' && revision >= 0 ? [] : [invalid('revision', revision, 'must be greater than or equal to 0')]),
  ]
}

function leaseCauses(object: ApiObject): readonly StatusCause[] {
  const { leaseDurationSeconds, leaseTransitions } = objectOrEmpty(object['spec'])
  return [
    ...(typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0
      ? [invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0')]
      : []),
    ...(typeof leaseTransitions === 'number' && leaseTransitions < 0
      ? [invalid('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0')]
      : []),
  ]
}
